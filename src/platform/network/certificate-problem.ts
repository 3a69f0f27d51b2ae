import { connect, type PeerCertificate } from 'node:tls';
import { cleanText } from '../text/clean-text.ts';
import { type Address, pinnedLookup } from './address.ts';
import { errorCode } from './error-code.ts';

/** The server whose certificate was rejected. */
interface Place {
  /** As sentences name it. */
  name: string;
  host: string;
  port: number;
  /** Null = as the system resolves the host. */
  addresses: readonly Address[] | null;
}

const DATE_MS = 2_000;
const TRUST = "add the authority to the system's certificates or to NODE_EXTRA_CA_CERTS";

/** Why TLS failed, in one sentence; null for other errors. */
export async function certificateProblem(error: unknown, place: Place): Promise<string | null> {
  const code = errorCode(error);
  const { name } = place;
  if (code === 'CERT_HAS_EXPIRED') {
    const expired = await expiryOf(place);
    return `The certificate of ${name} expired${expired === null ? '' : ` on ${expired}`}.`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of ${name} is for another name${others(error)}.`;
  if (code === 'CERT_NOT_YET_VALID') return `The certificate of ${name} is not valid yet.`;
  if (code === 'DEPTH_ZERO_SELF_SIGNED_CERT') {
    return `The certificate of ${name} is self-signed: ${TRUST}.`;
  }
  if (/^(?:UNABLE_TO_|SELF_SIGNED_CERT|CERT_UNTRUSTED|CERT_REJECTED|INVALID_CA)/.test(code)) {
    return `The certificate of ${name} is not from a trusted authority (${code}): ${TRUST}.`;
  }
  if (/^(?:CERT_|CRL_|ERR_TLS_CERT|INVALID_PURPOSE|PATH_LENGTH)/.test(code)) {
    return `The certificate of ${name} was rejected (${code}).`;
  }
  // OpenSSL's reason is only in the text of such an error.
  if (/wrong version number|packet length too long|http request/.test(String(error))) {
    return `${name} does not speak TLS on port ${place.port}.`;
  }
  return /^(?:ERR_SSL|ERR_TLS|EPROTO$)/.test(code)
    ? `The TLS handshake with ${name} failed (${code}).`
    : null;
}

// The server chose these names.
function others(error: unknown): string {
  const cert = error instanceof Error && 'cert' in error ? (error.cert as PeerCertificate) : null;
  const names = (cert?.subjectaltname ?? '')
    .split(', ')
    .map((each) => each.replace(/^(DNS|IP Address):/, ''));
  const shown = names.filter((each) => /^[\w.*:-]{1,100}$/.test(each)).slice(0, 3);
  return shown.length === 0 ? '' : ` (${cleanText(shown.join(', '), 200)})`;
}

/**
 * The day on which the certificate expired; null = not known. Node rejects such a certificate without saying its dates, so this
 * connects again, sends nothing, and only looks at it.
 */
function expiryOf({ host, port, addresses }: Place): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port,
      servername: serverName(host),
      ...(addresses && { lookup: pinnedLookup(addresses) }),
      rejectUnauthorized: false,
    });
    const timer = setTimeout(() => end(null), DATE_MS);
    const end = (day: string | null) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(day);
    };
    socket
      .once('secureConnect', () => {
        const expires = new Date(socket.getPeerCertificate().valid_to);
        end(Number.isNaN(expires.getTime()) ? null : expires.toISOString().slice(0, 10));
      })
      .on('error', () => end(null));
  });
}

function serverName(host: string): string {
  return /^[0-9.]+$|:/.test(host) ? '' : host.replace(/\.$/, '');
}
