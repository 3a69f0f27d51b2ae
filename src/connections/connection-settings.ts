import { createHash, createPublicKey, X509Certificate } from 'node:crypto';
import { invalidParameter } from '../platform/rejection.ts';
import { familyOf, isForeignCheck, isSqlEngine, traitsOf } from '../vocabulary/engines.ts';
import { isShippedAuthority } from '../vocabulary/hosted/authorities.ts';
import type { ThresholdChanges } from './connection-thresholds.ts';
import type { DatabaseAddress } from './connection-url.ts';

/** From pulse to pulse, unless a connection says otherwise. */
export const DEFAULT_PULSE_SECONDS = 10;

/** How often a connection is pulsed, as the commands have it: `10s`, `off`. */
export function toPulseText(seconds: number): string {
  return seconds === 0 ? 'off' : `${seconds}s`;
}

/** How often a backup is expected, as the commands have it: `26h`, `off`. */
export function toBackupText(seconds: number): string {
  if (seconds === 0) return 'off';
  return seconds % 3_600 === 0 ? `${seconds / 3_600}h` : `${seconds}s`;
}

/** A connection's settings besides its address. Absent fields keep their values, or get the default of a new connection. */
export interface ConnectionSettings {
  thresholds?: ThresholdChanges;
  expectedStandbys?: number;
  /** Whether the normalized texts of queries are read and stored. */
  queryTexts?: boolean;
  /** From pulse to pulse, 1 to 60; 0 = off. */
  pulseSeconds?: number;
  /** Within how many seconds a backup has to succeed; 0 = none is expected. */
  backupExpectedSeconds?: number;
  /** Whether the password may be sent in clear text or as MD5. */
  passwordExposable?: boolean;
  /** PEM: certificates, and public keys of MySQL servers; or the name of shipped authorities; null = only the system's certificates. */
  caCertificate?: string | null;
  /** The name of an operator's command that prints the password; null = the password is stored. */
  tokenSource?: string | null;
}

/**
 * Throws a {@link Rejection} for settings that have no effect on this engine, because users would believe that
 * they apply.
 */
export function requireSettingsOf(
  engine: DatabaseAddress['engine'],
  {
    thresholds = {},
    expectedStandbys = 0,
    backupExpectedSeconds = 0,
    queryTexts,
    caCertificate,
  }: ConnectionSettings,
): void {
  const { name, hasStandbys } = traitsOf(engine);
  const check = Object.keys(thresholds).find((id) => isForeignCheck(engine, id));
  if (check !== undefined)
    throw invalidParameter('thresholds', `${check} is not a check for ${name}: leave out its threshold.`);
  if (!hasStandbys && expectedStandbys > 0)
    throw invalidParameter(
      'expected_standbys',
      'Expected standbys are for PostgreSQL only: leave out their number.',
    );
  if (!isSqlEngine(engine) && backupExpectedSeconds > 0)
    throw invalidParameter(
      'backup_expected_seconds',
      `${name} has no backups: expect them of the database behind it.`,
    );
  if (!isSqlEngine(engine) && queryTexts === true)
    throw invalidParameter('query_texts', `${name} shows no queries: store those of the database behind it.`);
  if (familyOf(engine) !== 'mysql' && caCertificate?.includes(PUBLIC_KEY))
    throw invalidParameter(
      'ca_certificate',
      `The certificates contain a public key, which is for MySQL only: ${name} needs certificates.`,
    );
}

const PUBLIC_KEY = '-----BEGIN PUBLIC KEY-----';
const PEM = /-----BEGIN (CERTIFICATE|PUBLIC KEY)-----[\s\S]+?-----END \1-----/g;
const LARGEST_TEXT = 1024 * 1024;

/** Extracts the blocks of PEM text, and checks that each is a valid certificate or public key. */
export function certificatesIn(text: string): string {
  const blocks = text.length <= LARGEST_TEXT ? (text.match(PEM) ?? []) : [];
  try {
    if (blocks.length === 0) throw new Error('no certificate');
    return blocks.map(rewritten).join('');
  } catch {
    throw invalidParameter(
      'ca_certificate',
      'The certificates must be PEM text, which begins with -----BEGIN CERTIFICATE-----.',
    );
  }
}

function rewritten(block: string): string {
  if (!block.startsWith(PUBLIC_KEY)) return new X509Certificate(block).toString();
  return createPublicKey(block).export({ type: 'spki', format: 'pem' }).toString();
}

/** SHA-256 fingerprints of the certificates and keys in PEM text, for the log; of shipped authorities, their name. */
export function fingerprints(pem: string): string[] {
  if (isShippedAuthority(pem)) return [pem];
  return (pem.match(PEM) ?? []).map((block) => {
    if (!block.startsWith(PUBLIC_KEY)) return new X509Certificate(block).fingerprint256;
    const key = createPublicKey(block).export({ type: 'spki', format: 'der' });
    return (createHash('sha256').update(key).digest('hex').toUpperCase().match(/../g) ?? []).join(':');
  });
}
