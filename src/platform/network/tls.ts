import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/** A server's certificate with its chain, and its private key, both in PEM. */
export interface Tls {
  cert: string;
  key: string;
}

/** Returns the server's own certificate. Throws a sentence if certificate or key is invalid, or if they do not match. */
export function certificateOf({ cert, key }: Tls): X509Certificate {
  const certificate = attempt(() => new X509Certificate(cert), 'TLS_CERT_FILE contains no PEM certificate.');
  const own = attempt(
    () => createPrivateKey(key),
    'TLS_KEY_FILE contains no PEM private key without a passphrase.',
  );
  if (!certificate.checkPrivateKey(own)) {
    throw new Error('The key in TLS_KEY_FILE does not match the first certificate in TLS_CERT_FILE.');
  }
  attempt(
    () => createSecureContext({ cert, key }),
    'TLS rejects TLS_CERT_FILE or TLS_KEY_FILE: use RSA with 2048 bits or more, or ECDSA, and a complete chain.',
  );
  return certificate;
}

function attempt<T>(work: () => T, sentence: string): T {
  try {
    return work();
  } catch (cause) {
    throw new Error(sentence, { cause });
  }
}
