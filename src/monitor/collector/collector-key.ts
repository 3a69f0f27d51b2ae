import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Who a collector is, once a service has enrolled it. */
export interface CollectorIdentity {
  /** The service's address. */
  url: string;
  name: string;
  account: number;
  collector: number;
  key: KeyObject;
}

const FILE = 'collector-key.json';
const OTHERS = 0o077;

/** A new key pair: the private key, and the 32 bytes of the public one. */
export function newKey(): { key: KeyObject; publicKey: Buffer } {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { key: privateKey, publicKey: publicKeyOf(privateKey) };
}

/** The 32 bytes of the public key that belongs to a private one. */
export function publicKeyOf(key: KeyObject): Buffer {
  return Buffer.from(String(createPublicKey(key).export({ format: 'jwk' })['x']), 'base64url');
}

/** The identity that is kept in a folder; null if there is none. Throws a sentence if others can read it, or it is damaged. */
export function readIdentity(folder: string): CollectorIdentity | null {
  const path = join(folder, FILE);
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined) return null;
  if ((mode & OTHERS) !== 0)
    throw new Error(`The file ${path} can be read by other users: run chmod 600 on it.`);
  try {
    const { url, name, account, collector, private_key } = JSON.parse(readFileSync(path, 'utf8'));
    return { url, name, account, collector, key: createPrivateKey(private_key) };
  } catch {
    throw new Error(`The file ${path} is damaged: remove it, and enrol the collector again.`);
  }
}

/** Keeps an identity in a folder, which is created if needed. It replaces the one before as a whole. */
export function writeIdentity(folder: string, { key, ...identity }: CollectorIdentity): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, FILE);
  const private_key = key.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(`${path}.new`, `${JSON.stringify({ ...identity, private_key })}\n`, {
    mode: 0o600,
    flush: true,
  });
  renameSync(`${path}.new`, path);
}
