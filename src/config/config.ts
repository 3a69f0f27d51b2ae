import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { parsePoolerUrl, parseStoreUrl } from '../database/connect.ts';
import type { SecretKeys } from '../database/encryption.ts';
import { misspeltSettings } from './setting-names.ts';
import { readPublicUrl, readSignOn, type SignOnSettings } from './sign-on-settings.ts';
import { readTraceSettings, type TraceSettings } from '../telemetry/trace-settings.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** How much is logged; the levels of pino. */
type LogLevel = (typeof LOG_LEVELS)[number];

/** Every setting of the program, read once from the environment. */
export interface Config {
  /** Names the store, several hosts allowed; null = the embedded one in `dataDir`. Holds a password. */
  readonly databaseUrl: string | null;
  /** Names a pooler in transaction mode before that store, for requests; null = none. Holds a password. */
  readonly poolerUrl: string | null;
  /** The folder that holds the embedded store and its secret. */
  readonly dataDir: string;
  /** The keys of `DBVITALS_SECRET_KEY`; null = those in the data folder. Ask {@link secretKeys} for them. */
  readonly givenSecret: SecretKeys | null;
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** The certificate (PEM, with its chain) and its key, by file; null = plain HTTP. */
  readonly tlsFiles: { readonly cert: string; readonly key: string } | null;
  /** Where the service stands behind a proxy, such as `/dbvitals`; empty = at the root. */
  readonly basePath: string;
  /** null = no second port. */
  readonly metricsPort: number | null;
  /** Where that port is; `host` unless told otherwise. */
  readonly metricsHost: string;
  /** Origins such as `https://console.example.com`; empty = CORS is off. */
  readonly corsOrigins: readonly string[];
  /** For how long requests are still answered once `/readyz` says 503, before the port closes, in seconds. */
  readonly drainSeconds: number;
  /** Addresses and networks (CIDR) whose `X-Forwarded-For`, `-Proto` and `-Host` count. */
  readonly trustProxy: readonly string[];
  /** Whether databases at private addresses may be watched. */
  readonly allowPrivateTargets: boolean;
  /** Whether members may add connections by Unix socket in the console: these log in as the service's own user. */
  readonly allowConsoleSockets: boolean;
  /** How long entries of the activity log are kept, in days of 24 hours; null = for ever. */
  readonly activityDays: number | null;
  /** The file that seals of the activity log are appended to; null = none. */
  readonly sealFile: string | null;
  /** The origin at which browsers reach the service; null = `host` and `port`. */
  readonly publicUrl: string | null;
  /** The one folder whose files `apply` reads as secrets; null = none unless the command names one. */
  readonly secretsDir: string | null;
  /** How persons sign in by the company's provider; null = they don't. */
  readonly singleSignOn: SignOnSettings | null;
  /** The key of a caller of the API; null = none. Ask {@link apiKey} for it. */
  readonly givenApiKey: string | null;
  readonly logLevel: LogLevel;
  /** Which traces are sent; null = none. */
  readonly traces: TraceSettings | null;
  /** A sentence for each variable that looks like a misspelt setting. */
  readonly misspelt: readonly string[];
}

/** Wrong settings: one sentence for each, and none of them holds a secret. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Reads `.env` of the working folder, if there is one (what is set already wins), then the environment. */
export function loadConfig(): Config {
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    if (!isErrno(error, 'ENOENT'))
      throw new ConfigError(['.env cannot be read: make it a readable file or remove it.']);
  }
  return readConfig(process.env);
}

/** The settings of an environment; an empty value counts as unset. Throws {@link ConfigError} with all mistakes. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const problems: string[] = [];
  /** What `parse` makes of a setting, `absent` when it is unset; a sentence thrown becomes a problem. */
  function setting<T, A>(name: string, absent: A, parse: (text: string) => T): T | A {
    const text = environment[name]?.trim();
    if (!text) return absent;
    try {
      return parse(text);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : `${name} is wrong.`);
      return absent;
    }
  }

  const secrets = ['DBVITALS_SECRET_KEY', 'DBVITALS_SECRET_KEY_FILE'].filter((name) =>
    environment[name]?.trim(),
  );
  if (secrets.length === 2) problems.push('Set DBVITALS_SECRET_KEY or DBVITALS_SECRET_KEY_FILE, not both.');
  const stores = ['DATABASE_URL', 'DATABASE_URL_FILE'].filter((name) => environment[name]?.trim());
  if (stores.length === 2) problems.push('Set DATABASE_URL or DATABASE_URL_FILE, not both.');
  if (secrets.length === 0 && stores.length > 0) {
    problems.push(
      'DATABASE_URL needs DBVITALS_SECRET_KEY or DBVITALS_SECRET_KEY_FILE too: make one with "openssl rand -hex 32".',
    );
  }
  if (environment['DBVITALS_POOLER_URL']?.trim() && stores.length === 0) {
    problems.push('DBVITALS_POOLER_URL needs DATABASE_URL too: the URL of the server behind the pooler.');
  }
  const host = setting('HOST', '127.0.0.1', (text) => parseHost('HOST', text));
  const [cert, key] = [setting('TLS_CERT_FILE', null, String), setting('TLS_KEY_FILE', null, String)];
  if ((cert === null) !== (key === null)) {
    problems.push('Set TLS_CERT_FILE and TLS_KEY_FILE, both or neither.');
  }
  const publicUrl = readPublicUrl(setting);
  const config: Config = {
    databaseUrl:
      setting('DATABASE_URL', null, checkStoreUrl) ?? setting('DATABASE_URL_FILE', null, readStoreUrlFile),
    poolerUrl: setting('DBVITALS_POOLER_URL', null, checkPoolerUrl),
    dataDir: setting('DBVITALS_DATA_DIR', '.dbvitals', String),
    givenSecret:
      setting('DBVITALS_SECRET_KEY', null, (text) => parseSecrets('DBVITALS_SECRET_KEY', text)) ??
      setting('DBVITALS_SECRET_KEY_FILE', null, readSecretFile),
    host,
    port: setting('PORT', 8080, (text) => parsePort('PORT', text)),
    tlsFiles: cert !== null && key !== null ? Object.freeze({ cert, key }) : null,
    basePath: setting('DBVITALS_BASE_PATH', '', parseBasePath),
    metricsPort: setting('METRICS_PORT', null, (text) => parsePort('METRICS_PORT', text)),
    metricsHost: setting('METRICS_HOST', host, (text) => parseHost('METRICS_HOST', text)),
    drainSeconds: setting('DBVITALS_DRAIN_SECONDS', 0, parseDrainSeconds),
    corsOrigins: Object.freeze(setting('DBVITALS_CORS_ORIGINS', [], (text) => split(text).map(parseOrigin))),
    trustProxy: Object.freeze(setting('DBVITALS_TRUST_PROXY', [], (text) => split(text).map(parseNetwork))),
    allowPrivateTargets: setting(
      'DBVITALS_ALLOW_PRIVATE_TARGETS',
      true,
      yesNo('DBVITALS_ALLOW_PRIVATE_TARGETS'),
    ),
    allowConsoleSockets: setting(
      'DBVITALS_ALLOW_CONSOLE_SOCKETS',
      false,
      yesNo('DBVITALS_ALLOW_CONSOLE_SOCKETS'),
    ),
    activityDays: setting('DBVITALS_ACTIVITY_DAYS', null, parseDays),
    sealFile: setting('DBVITALS_SEAL_FILE', null, parseSealFile),
    publicUrl,
    secretsDir: setting('DBVITALS_SECRETS_DIR', null, String),
    singleSignOn: readSignOn(setting, publicUrl, (sentence) => problems.push(sentence)),
    givenApiKey: setting('DBVITALS_API_KEY', null, parseApiKey),
    logLevel: setting('LOG_LEVEL', 'info', parseLogLevel),
    traces: readTraceSettings(setting),
    misspelt: Object.freeze(misspeltSettings(environment)),
  };
  if (problems.length > 0) throw new ConfigError([...problems, ...config.misspelt]);
  return Object.freeze(config);
}

/** The key that a command calls the API of a service with. Throws {@link ConfigError} when there is none. */
export function apiKey(config: Config): string {
  if (config.givenApiKey !== null) return config.givenApiKey;
  throw new ConfigError(['Set DBVITALS_API_KEY to an API key of your account.']);
}

/**
 * The keys that wrap what is secret in the store: those given, or those of `secret.key` in the data folder, which is made
 * when it is not there. Throws {@link ConfigError} when that file holds something else or others may read it.
 */
export function secretKeys(config: Config): SecretKeys {
  if (config.givenSecret) return config.givenSecret;
  const file = join(config.dataDir, 'secret.key');
  if (!existsSync(file)) {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
    makeSecret(file);
  }
  return readOwnSecret(file);
}

function readOwnSecret(file: string): SecretKeys {
  try {
    if (statSync(file).mode & 0o077)
      throw new ConfigError([`${file} may be read by others: run chmod 600 on it.`]);
    return parseSecrets(file, readFileSync(file, 'utf8'));
  } catch (error) {
    if (isErrno(error))
      throw new ConfigError([`${file} cannot be read (${error.code}): let this user read it.`]);
    throw error;
  }
}

/** Written whole under another name, then linked: of several starts one wins, and none reads half a secret. */
function makeSecret(file: string): void {
  const draft = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, `${randomBytes(32).toString('hex')}\n`);
    fsyncSync(descriptor);
    linkSync(draft, file);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  } finally {
    closeSync(descriptor);
    rmSync(draft);
  }
}

function readSecretFile(path: string): SecretKeys {
  try {
    return parseSecrets('The file of DBVITALS_SECRET_KEY_FILE', readFileSync(path, 'utf8'));
  } catch (error) {
    if (isErrno(error))
      throw new Error(`DBVITALS_SECRET_KEY_FILE cannot be read (${error.code}): name a readable file.`);
    throw error;
  }
}

/** One key, or several separated by commas or line ends. */
function parseSecrets(name: string, text: string): SecretKeys {
  const [first, ...others] = text
    .split(/[,\s]+/)
    .filter((word) => word !== '')
    .map((word) => {
      if (/^[0-9a-fA-F]{64}$/.test(word)) return Buffer.from(word, 'hex');
      if (/^[0-9A-Za-z+/]{43}=?$/.test(word)) return Buffer.from(word, 'base64');
      return null;
    });
  if (first && others.every((key) => key !== null)) return [first, ...others];
  throw new ConfigError([
    `${name} must be 32 bytes, written as 64 hexadecimal digits or in base64, or several such keys, comma-separated.`,
  ]);
}

function checkStoreUrl(text: string): string {
  parseStoreUrl(text);
  return text;
}

function readStoreUrlFile(path: string): string {
  try {
    return checkStoreUrl(readFileSync(path, 'utf8').trim());
  } catch (error) {
    if (isErrno(error))
      throw new Error(`DATABASE_URL_FILE cannot be read (${error.code}): name a readable file.`);
    throw error;
  }
}

function checkPoolerUrl(text: string): string {
  parsePoolerUrl(text);
  return text;
}

function parseHost(name: string, text: string): string {
  if (isIP(text) || /^[0-9A-Za-z]([0-9A-Za-z.-]*[0-9A-Za-z])?$/.test(text)) return text;
  throw new Error(`${name} must be an address or a host name, such as 127.0.0.1.`);
}

// A proxy may take the base path off or leave it: these could then be meant either way.
const OWN_PATHS = [
  ...['account', 'activity', 'api', 'assets', 'connections', 'console', 'docs', 'fleet', 'keys', 'link'],
  ...['livez', 'readyz', 'sessions', 'sign-in', 'team', 'tickets'],
];

function parseBasePath(text: string): string {
  const steps = text.replace(/\/$/, '').split('/').slice(1);
  const plain = steps.every((step) => /^[\w~-][\w.~-]*$/.test(step));
  if (text.startsWith('/') && plain && !OWN_PATHS.includes(steps[0] ?? '')) {
    return steps.map((step) => `/${step}`).join('');
  }
  throw new Error(
    "DBVITALS_BASE_PATH must be a path such as /dbvitals, and begin with none of dbvitals' own such as /api or /fleet.",
  );
}

function parsePort(name: string, text: string): number {
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Error(`${name} must be a port, 0 to 65535.`);
}

// Beyond that whoever stops services kills them: Kubernetes after 30 s, systemd after 90 s, unless they are told.
const LONGEST_DRAIN = 300;

function parseDrainSeconds(text: string): number {
  if (/^[0-9]{1,3}$/.test(text) && Number(text) <= LONGEST_DRAIN) return Number(text);
  throw new Error(`DBVITALS_DRAIN_SECONDS must be a whole number of seconds, 0 to ${LONGEST_DRAIN}.`);
}

function parseOrigin(text: string): string {
  if (/^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text) return text;
  throw new Error(
    'DBVITALS_CORS_ORIGINS must list origins such as https://console.example.com, comma-separated.',
  );
}

function parseNetwork(text: string): string {
  const [, address = '', prefix] = /^([^/]+)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
  if (isIP(address) && Number(prefix ?? 0) <= (isIP(address) === 6 ? 128 : 32)) return text;
  throw new Error(
    'DBVITALS_TRUST_PROXY must list addresses such as 10.0.0.1 or 10.0.0.0/8, comma-separated.',
  );
}

function yesNo(name: string): (text: string) => boolean {
  return (text) => {
    if (text === 'yes' || text === 'no') return text === 'yes';
    throw new Error(`${name} must be yes or no.`);
  };
}

// A hundred years: what lies further back than PostgreSQL's calendar could not be compared.
const MOST_DAYS = 36_500;

function parseDays(text: string): number {
  if (/^[1-9][0-9]{0,4}$/.test(text) && Number(text) <= MOST_DAYS) return Number(text);
  throw new Error(`DBVITALS_ACTIVITY_DAYS must be a whole number of days, 1 to ${MOST_DAYS}.`);
}

/** Opened only when there is something to append; what can't be is said at the start. */
function parseSealFile(text: string): string {
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isFolder(dirname(text)) && !isFolder(text)) return text;
  throw new Error('DBVITALS_SEAL_FILE must name a file in a folder that is there.');
}

/** The service says whether it is one; here only what no header could carry. */
function parseApiKey(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new Error('DBVITALS_API_KEY must be an API key, without blanks or line ends.');
}

function parseLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text);
  if (level) return level;
  throw new Error(`LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}.`);
}

function split(list: string): string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function isErrno(error: unknown, code?: string): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && (code === undefined || error.code === code);
}
