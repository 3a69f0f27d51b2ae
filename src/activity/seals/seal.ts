import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson, instant } from '../canonical-entry.ts';

/** The signed content of a seal. Instants are UTC with six decimals; hashes and keys are hexadecimal. */
export interface Seal {
  format: typeof SEAL_FORMAT;
  account_id: number;
  /** 1, 2, 3 … within the account. */
  number: number;
  /** `last_id` + 1 if the seal only allows retention and covers no entry. */
  first_id: number;
  last_id: number;
  /** The time of the last entry. */
  last_at: string;
  /** Retention may delete the entries up to this one. */
  cut_to: number;
  /** SHA-256 of the concatenated leaves of the entries. */
  leaves_sha256: string;
  /** {@link sealHash} of the previous seal; zeros for the first. */
  previous: string;
  /** The 32 bytes of the Ed25519 public key, which also identify the key. */
  public_key: string;
  sealed_at: string;
}

/** A seal with its Ed25519 signature, hexadecimal, over {@link sealText}. */
export interface SignedSeal {
  seal: Seal;
  signature: string;
}

/** A seal with the hashes of its entries; null if they were deleted. */
export interface SealWithLeaves extends SignedSeal {
  leaves: Buffer | null;
}

/** Increase it when the text of seals or entries changes, so that no text has two meanings. */
export const SEAL_FORMAT = 'dbvitals-seal-1';

/** `previous` of an account's first seal. */
export const NO_SEAL = '0'.repeat(64);

/** The text that is signed. */
function sealText(seal: Seal): string {
  return canonicalJson(seal);
}

/** SHA-256 of the text, hexadecimal. The next seal contains it. */
export function sealHash(seal: Seal): string {
  return hash('sha256', sealText(seal));
}

/** Signs with an Ed25519 key. */
export function signSeal(seal: Seal, privateKey: KeyObject): SignedSeal {
  return { seal, signature: sign(null, Buffer.from(sealText(seal)), privateKey).toString('hex') };
}

/** Whether the key named in the seal has signed it. The caller must check whose key it is. */
export function isSigned({ seal, signature }: SignedSeal): boolean {
  return isSignedText(sealText(seal), signature, seal.public_key);
}

/** Whether a public key (hexadecimal) verifies the signature of a text. */
export function isSignedText(text: string, signature: string, publicKey: string): boolean {
  const key = publicKeyOf(publicKey);
  return key !== null && verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'));
}

/** The key object of a raw public key; null if it is invalid. */
export function publicKeyOf(hex: string): KeyObject | null {
  try {
    const x = Buffer.from(hex, 'hex').toString('base64url');
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch {
    return null;
  }
}

/** The raw public key, hexadecimal, of an Ed25519 key, public or private. */
export function rawPublicKey(key: KeyObject): string {
  const { x = '' } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('hex');
}

/** The columns of a {@link SealRow}, of `activity_seal` as `s` and `activity_leaves` as `l`. */
export const sealColumns = `
  s.account_id, s.number, s.first_id, s.last_id, ${instant('s.last_at')} as last_at, s.cut_to,
  encode(s.leaves_sha256, 'hex') as leaves_sha256, encode(s.previous, 'hex') as previous,
  encode(s.public_key, 'hex') as public_key, ${instant('s.sealed_at')} as sealed_at,
  encode(s.signature, 'hex') as signature`;

/** A seal as stored. */
export type SealRow = Omit<Seal, 'format'> & { signature: string };

/** The seal of a row. */
export function sealOf({ signature, ...seal }: SealRow): SignedSeal {
  return { seal: { format: SEAL_FORMAT, ...seal }, signature };
}
