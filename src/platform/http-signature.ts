import { createHash, createPublicKey, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto';

// HTTP Message Signatures (RFC 9421) by Ed25519, in the one form that collectors write: method, path and the digest of the body
// (RFC 9530) are covered, with a nonce. A general library would accept more forms, each of which would have to be refused.

const COVERED = '("@method" "@path" "content-digest")';
const DIGEST = /^sha-256=:([A-Za-z0-9+/]{43}=):$/;
const SIGNATURE = /^collector=:([A-Za-z0-9+/]{86}==):$/;
const INPUT =
  /^collector=(\("@method" "@path" "content-digest"\);created=([0-9]{10});keyid="([0-9]{1,15}\/[0-9]{1,15})";alg="ed25519";nonce="([0-9]{16})")$/;

/** What is signed of a request, besides its body. */
export interface SignedRequest {
  method: string;
  /** As the client requested it, without the query. */
  path: string;
}

/** A signature as a request has it, well-formed and not verified yet. */
export interface WrittenSignature {
  /** `account/collector`. */
  keyId: string;
  /** Microseconds since 1970, unique for the key. */
  nonce: number;
  /** The digest of the body, which the body must still be compared with. */
  digest: Buffer;
  parameters: string;
  signature: Buffer;
}

/** Signs a request. Returns its headers. */
export function signRequest(
  key: KeyObject,
  request: SignedRequest & { body: Buffer; keyId: string; nonce: number },
): Record<'content-digest' | 'signature-input' | 'signature', string> {
  const { keyId, nonce, body } = request;
  const created = Math.floor(nonce / 1_000_000);
  const parameters = `${COVERED};created=${created};keyid="${keyId}";alg="ed25519";nonce="${nonce}"`;
  const digest = bodyDigest(body);
  const signature = sign(null, signatureBase(request, digest, parameters), key);
  return {
    'content-digest': `sha-256=:${digest.toString('base64')}:`,
    'signature-input': `collector=${parameters}`,
    signature: `collector=:${signature.toString('base64')}:`,
  };
}

/** Parses the headers of a signed request; null if they have another form. A header that occurs twice has one. */
export function parseSignature(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): WrittenSignature | null {
  const header = (name: string) => (typeof headers[name] === 'string' ? headers[name] : '');
  const [, digest] = DIGEST.exec(header('content-digest')) ?? [];
  const [, signature] = SIGNATURE.exec(header('signature')) ?? [];
  const [, parameters, created, keyId, nonce] = INPUT.exec(header('signature-input')) ?? [];
  if (digest === undefined || signature === undefined || parameters === undefined || keyId === undefined)
    return null;
  if (Math.floor(Number(nonce) / 1_000_000) !== Number(created)) return null;
  return {
    keyId,
    nonce: Number(nonce),
    digest: Buffer.from(digest, 'base64'),
    parameters,
    signature: Buffer.from(signature, 'base64'),
  };
}

/** Whether the key of 32 bytes signed this request. Says nothing about its body. */
export function isSignedBy(
  publicKey: Buffer,
  request: SignedRequest,
  { digest, parameters, signature }: WrittenSignature,
): boolean {
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
    format: 'jwk',
  });
  return verify(null, signatureBase(request, digest, parameters), key, signature);
}

/** Whether a body is the one that was signed. */
export function hasDigest(body: Buffer, { digest }: Pick<WrittenSignature, 'digest'>): boolean {
  return timingSafeEqual(bodyDigest(body), digest);
}

function bodyDigest(body: Buffer): Buffer {
  return createHash('sha256').update(body).digest();
}

/** RFC 9421, section 2.5. */
function signatureBase({ method, path }: SignedRequest, digest: Buffer, parameters: string): Buffer {
  return Buffer.from(
    `"@method": ${method}\n"@path": ${path}\n"content-digest": sha-256=:${digest.toString('base64')}:\n"@signature-params": ${parameters}`,
  );
}
