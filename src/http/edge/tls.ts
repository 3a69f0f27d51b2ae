import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/** A server's certificate with its chain, and its key, both PEM. The key is a secret. */
export interface Tls {
  cert: string;
  key: string;
}

/** The certificate that a server of `tls` shows first. Throws a sentence where cert or key is none, or they are no pair. */
export function certificateOf({ cert, key }: Tls): X509Certificate {
  const certificate = attempt(() => new X509Certificate(cert), 'TLS_CERT_FILE holds no certificate in PEM.');
  const own = attempt(
    () => createPrivateKey(key),
    'TLS_KEY_FILE holds no private key in PEM without a passphrase.',
  );
  if (!certificate.checkPrivateKey(own)) {
    throw new Error('TLS_KEY_FILE holds another key than that of the first certificate in TLS_CERT_FILE.');
  }
  attempt(
    () => createSecureContext({ cert, key }),
    'TLS refuses TLS_CERT_FILE or TLS_KEY_FILE: use RSA of 2048 bits or more, or ECDSA, and a whole chain.',
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
