import type { SecretKeys } from '../database/encryption.ts';
import { readTraceSettings, type TraceSettings } from '../telemetry/trace-settings.ts';
import { ConfigError, isErrno } from './config-error.ts';
import {
  checkPoolerUrl,
  checkStoreUrl,
  type LogLevel,
  parseApiKey,
  parseBasePath,
  parseDays,
  parseDrainSeconds,
  parseHost,
  parseLogLevel,
  parseNetwork,
  parseOrigin,
  parsePort,
  parseSealFile,
  readStoreUrlFile,
  split,
  yesNo,
} from './parse-settings.ts';
import { parseSecrets, readSecretFile } from './secret-key.ts';
import { misspeltSettings } from './setting-names.ts';
import { readPublicUrl, readSignOn, type SignOnSettings } from './sign-on-settings.ts';

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
