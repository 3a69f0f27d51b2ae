import { collectedAddress } from '../../connections/collected-connection.ts';
import { certificatesIn, requireSettingsOf } from '../../connections/connection-settings.ts';
import type { ConnectionThresholds } from '../../connections/connection-thresholds.ts';
import { agreedTls, requireAuthority, tlsOf } from '../../connections/connection-tls.ts';
import { requirePrivateKey, type SshLogin } from '../../connections/connection-tunnel.ts';
import { addressOf, type DatabaseAddress, parseConnectionUrl } from '../../connections/connection-url.ts';
import { requireTags, requireTagsOfOne } from '../../connections/tags/change-tags.ts';
import { requireOrderWithin } from '../../connections/thresholds/require-order.ts';
import type { TlsMode } from '../../vocabulary/tls-modes.ts';
import { durationOf, parseBackupExpected, parsePulse, textOf } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';
import { noteRepeated, type ReadFile } from './configuration-file.ts';
import type { WrittenConnection } from './configuration-schema.ts';
import { type SilenceInFile, silencesIn } from './plan-silences.ts';
import type { Path } from './schema-problems.ts';
import { fileText, lineAt, type Surroundings, textAt } from './secrets/resolve-secrets.ts';

/** The desired state of a connection. */
export interface DesiredConnection {
  path: Path;
  name: string;
  /** With the password from the file; null = the stored password stays. */
  address: DatabaseAddress;
  tls: TlsMode;
  /** Seconds. */
  every: number;
  thresholds: ConnectionThresholds;
  expectedStandbys: number;
  queryTexts: boolean;
  /** 0 = off. */
  pulseSeconds: number;
  /** 0 = no backup is expected. */
  backupExpectedSeconds: number;
  passwordExposable: boolean;
  caCertificate: string | null;
  /** The name of an operator's command that prints the password; null = by password. */
  tokenSource: string | null;
  ssh: SshLogin | null;
  /** The collector that measures it; null = the service itself. */
  collector: string | null;
  /** Null = the stored key stays. */
  sshKey: string | null;
  /** Sorted; null = not in the file. */
  tags: string[] | null;
  /** Null = not in the file. */
  silences: SilenceInFile[] | null;
}

/** Parses the connections of an account, and notes their problems. */
export function connectionsIn(
  file: ReadFile,
  path: Path,
  written: readonly WrittenConnection[],
  surroundings: Surroundings,
): DesiredConnection[] {
  noteRepeated(file, path, written, 'name', ({ name }) => name.trim());
  return written.flatMap((one, at) => connectionIn(file, [...path, at], one, surroundings) ?? []);
}

function connectionIn(
  file: ReadFile,
  path: Path,
  written: WrittenConnection,
  surroundings: Surroundings,
): DesiredConnection | undefined {
  const field = <T>(name: string, parse: () => T) => file.attempt([...path, name], parse);
  const { thresholds = {}, expected_standbys = 0, ssh, silences } = written;
  const named = field(placeOf(written), () => addressIn(written, surroundings));
  const engine = named?.engine ?? 'postgres';
  const type = named?.connection_type ?? 'direct';
  if (ssh && type === 'unix_socket')
    file.problem([...path, 'ssh'], 'An SSH tunnel needs a host, not a socket.');
  const name = field('name', () => textOf('The name')(written.name)) ?? '';
  const times = timesIn(written, field);
  const tls = field('tls', () => tlsOf(type, agreedTls(written.tls, named?.tls))) ?? 'disable';
  const password = field('password', () => passwordIn(written, named, surroundings)) ?? null;
  const caCertificate =
    field(written.ca_pem === undefined ? 'ca_file' : 'ca_pem', () => {
      const pem = authorityIn(written, surroundings);
      requireSettingsOf(engine, { caCertificate: pem });
      return pem;
    }) ?? null;
  if (written.ca_file === undefined && written.ca_pem === undefined)
    field('tls', () => requireAuthority(tls, caCertificate));
  const key = ssh?.key;
  const sshKey =
    file.attempt([...path, 'ssh', 'key'], () => key && requirePrivateKey(textAt(key, surroundings))) ?? null;
  field('thresholds', () => {
    requireSettingsOf(engine, { thresholds });
    requireOrderWithin(thresholds);
  });
  field('expected_standbys', () => requireSettingsOf(engine, { expectedStandbys: expected_standbys }));
  const tags = field('tags', () => tagsIn(written));
  const silenced = silences ? silencesIn(file, [...path, 'silences'], silences, engine) : null;
  if (!named) return undefined;
  return {
    path,
    name,
    address: { ...named, password },
    tls,
    ...times,
    thresholds,
    caCertificate,
    sshKey,
    expectedStandbys: expected_standbys,
    queryTexts: written.query_texts ?? false,
    passwordExposable: written.expose_password ?? false,
    tokenSource: written.token_source ?? null,
    collector: written.collector?.trim() ?? null,
    ssh: ssh ? { username: ssh.username, host: ssh.host, port: ssh.port ?? 22 } : null,
    tags: written.tags === undefined ? null : (tags ?? null),
    silences: silenced,
  };
}

type ParseField = <T>(name: string, parse: () => T) => T | undefined;

function timesIn(
  { every = '5m', pulse = '10s', backup_expected = 'off' }: WrittenConnection,
  field: ParseField,
): Pick<DesiredConnection, 'every' | 'pulseSeconds' | 'backupExpectedSeconds'> {
  return {
    every: field('every', () => durationOf('The time', '10s', '7d')(every)) ?? 0,
    pulseSeconds: field('pulse', () => parsePulse(pulse)) ?? 0,
    backupExpectedSeconds: field('backup_expected', () => parseBackupExpected(backup_expected)) ?? 0,
  };
}

function tagsIn({ tags = [] }: WrittenConnection): string[] {
  const parsed = requireTags(tags);
  requireTagsOfOne(parsed);
  return parsed;
}

/** The name of a shipped authority, or PEM; null = none. */
function authorityIn({ ca, ca_file, ca_pem }: WrittenConnection, surroundings: Surroundings): string | null {
  if ([ca, ca_file, ca_pem].filter((one) => one !== undefined).length > 1)
    throw new UsageError('Give one of ca, ca_file and ca_pem.');
  if (ca_file !== undefined) return certificatesIn(fileText(ca_file, surroundings));
  return ca_pem === undefined ? (ca ?? null) : certificatesIn(ca_pem);
}

/** The field that says where the database is. */
function placeOf({ address, collector }: WrittenConnection): string {
  return collector === undefined ? (address ? 'address' : 'url') : 'collector';
}

function addressIn(written: WrittenConnection, surroundings: Surroundings): DatabaseAddress {
  if (written.collector !== undefined) return collectedIn(written);
  const { url, address, engine } = written;
  if (engine !== undefined) throw new UsageError('Leave out engine: it needs collector.');
  if ((url === undefined) === (address === undefined))
    throw new UsageError('Give either url, or address with engine, host and username.');
  if (address) return addressOf(address);
  if (typeof url === 'object') return parseConnectionUrl(lineAt(url, surroundings));
  const named = parseConnectionUrl(url ?? '');
  if (named.password === null) return named;
  throw new UsageError(
    'The URL contains a password: remove it, and give the password as {env: NAME} or {file: PATH}.',
  );
}

/** What only a connection has that the service measures itself. */
const OWN = [
  'url',
  'address',
  'password',
  'tls',
  'ca_file',
  'ca',
  'ca_pem',
  'token_source',
  'expose_password',
  'ssh',
] as const;

function collectedIn(written: WrittenConnection): DatabaseAddress {
  const { collector = '', engine } = written;
  const own = OWN.find((name) => written[name] !== undefined);
  if (own !== undefined)
    throw new UsageError(`Leave out ${own}: with collector it is in the collector's own file.`);
  if (engine === undefined) throw new UsageError('Give engine, because there is no URL.');
  return collectedAddress(engine, textOf('The collector')(collector));
}

function passwordIn(
  { password }: WrittenConnection,
  address: DatabaseAddress | undefined,
  surroundings: Surroundings,
): string | null {
  if (password === undefined) return address?.password ?? null;
  if (!address?.password) return lineAt(password, surroundings);
  throw new UsageError('The URL already contains a password: remove one of the two.');
}
