import { parseEnv } from 'node:util';
import type { SecretKeys } from '../platform/encryption.ts';
import { type MetricSettings, readMetricSettings } from '../platform/telemetry/metric-settings.ts';
import type { Setting } from '../platform/telemetry/otlp-settings.ts';
import { readTraceSettings, type TraceSettings } from '../platform/telemetry/trace-settings.ts';
import { trimUnseen } from '../platform/text/clean-text.ts';
import { type CellsFile, readCellsFile } from './cells-file.ts';
import { ConfigError, isErrno } from './config-error.ts';
import { readMail } from './mail-settings.ts';
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
import { readTextFile, textInQuotes } from './text-file.ts';
import { readTokenCommands, type TokenCommands } from './token-commands.ts';

/** All settings of the program, read once from the environment. */
export interface Config {
  /** Several stores; null = the only store is that of `databaseUrl`. */
  readonly cells: CellsFile | null;
  /** The URL of the store, with one or more hosts; null = `cells`, else the embedded store in `dataDir`. Contains a password. */
  readonly databaseUrl: string | null;
  /** The URL of a pooler in transaction mode in front of that store, for requests; null = none. Contains a password. */
  readonly poolerUrl: string | null;
  /** The folder that holds the embedded store and its secret. */
  readonly dataDir: string;
  /** The keys of `DBVITALS_SECRET_KEY`; null = those in the data folder. Use {@link secretKeys} to get them. */
  readonly givenSecret: SecretKeys | null;
  /** The file of `DBVITALS_SECRET_KEY_FILE`; null = none. */
  readonly secretFile: string | null;
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** The files of the certificate (PEM, with its chain) and its key; null = plain HTTP. */
  readonly tlsFiles: { readonly cert: string; readonly key: string } | null;
  /** The service's path behind a proxy, such as `/dbvitals`; empty = the root. */
  readonly basePath: string;
  /** null = no second port. */
  readonly metricsPort: number | null;
  /** The address of that port; default: `host`. */
  readonly metricsHost: string;
  /** Origins such as `https://console.example.com`; empty = CORS is off. */
  readonly corsOrigins: readonly string[];
  /** How long requests are still answered after `/readyz` turns 503 and before the port closes, in seconds. */
  readonly drainSeconds: number;
  /** Addresses and networks (CIDR) whose `X-Forwarded-For`, `-Proto` and `-Host` are trusted. */
  readonly trustProxy: readonly string[];
  /** Whether databases at private addresses may be watched. */
  readonly allowPrivateTargets: boolean;
  /** Whether notifications may be sent to private addresses, and by http:. */
  readonly allowPrivateDestinations: boolean;
  /** Whether members may add connections by Unix socket in the console. These log in as the service's own user. */
  readonly allowConsoleSockets: boolean;
  /** Whether the monitor looks at each server every few seconds between two health checks. */
  readonly pulse: boolean;
  /** How long entries of the activity log are kept, in days of 24 hours; null = forever. */
  readonly activityDays: number | null;
  /** The file that seals of the activity log are appended to; null = none. */
  readonly sealFile: string | null;
  /** The origin that browsers use for the service; null = `host` and `port`. */
  readonly publicUrl: string | null;
  /** The commands that print tokens, by name. */
  readonly tokenCommands: TokenCommands;
  /** The only folder from which `apply` reads secrets; null = none unless the command names one. */
  readonly secretsDir: string | null;
  /** The URL of the SMTP server; null = no e-mail. Contains a password. */
  readonly smtpUrl: string | null;
  /** The sender's address of e-mail; null if there is no server. */
  readonly mailFrom: string | null;
  /** Single sign-on with the company's provider; null = off. */
  readonly singleSignOn: SignOnSettings | null;
  /** The key with which commands call the API; null = none. Use {@link apiKey} to get it. */
  readonly givenApiKey: string | null;
  readonly logLevel: LogLevel;
  /** Which traces are sent; null = none. */
  readonly traces: TraceSettings | null;
  /** A sentence for each variable that looks like a misspelled setting. */
  readonly misspelt: readonly string[];
}

/** Reads `.env` in the working folder, if it exists, and the environment, which takes precedence. */
export function loadConfig(): Config {
  return readConfig(loadEnvironment());
}

/**
 * When the measured values are sent to an OpenTelemetry collector; null = none is set. Apart from {@link loadConfig}: a service
 * ignores these settings, which may be meant for other programs.
 */
export function loadMetricSettings(): MetricSettings | null {
  return readMetrics(loadEnvironment());
}

/** {@link loadMetricSettings} of an environment. Throws {@link ConfigError} with all mistakes. */
export function readMetrics(environment: Environment): MetricSettings | null {
  const problems: string[] = [];
  const settings = readMetricSettings(settingReader(environment, problems));
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
  return settings;
}

type Environment = Record<string, string | undefined>;

function loadEnvironment(): Environment {
  try {
    // Not process.loadEnvFile(), which would take a byte order mark for a part of the first name, and read no name in UTF-16.
    const written = parseEnv(readTextFile('.env'));
    for (const [name, value] of Object.entries(written)) process.env[name] ??= value;
  } catch (error) {
    if (!isErrno(error, 'ENOENT'))
      throw new ConfigError(['.env cannot be read: make it a readable file or remove it.']);
  }
  return process.env;
}

/** Returns what reads a setting with `parse`; `absent` if it is unset. An error that `parse` throws is added to the problems. */
function settingReader(environment: Environment, problems: string[]): Setting {
  return <T, A>(name: string, absent: A, parse: (text: string) => T): T | A => {
    const given = trimUnseen(environment[name] ?? '');
    const quoted = textInQuotes(given);
    if (quoted !== null) problems.push(`${name} is in quotes: remove them.`);
    const text = quoted ?? given;
    if (text === '') return absent;
    try {
      return parse(text);
    } catch (error) {
      if (error instanceof ConfigError) problems.push(...error.problems);
      else problems.push(error instanceof Error ? error.message : `${name} is invalid.`);
      return absent;
    }
  };
}

/** Reads the settings of an environment. An empty value counts as unset. Throws {@link ConfigError} with all mistakes. */
export function readConfig(environment: Environment): Config {
  const problems = contradictions(environment);
  const setting = settingReader(environment, problems);
  const flag = (name: string, absent: boolean) => setting(name, absent, yesNo(name));
  const host = setting('HOST', '127.0.0.1', (text) => parseHost('HOST', text));
  const [cert, key] = [setting('TLS_CERT_FILE', null, String), setting('TLS_KEY_FILE', null, String)];
  if ((cert === null) !== (key === null))
    problems.push('Set TLS_CERT_FILE and TLS_KEY_FILE, both or neither.');
  const publicUrl = readPublicUrl(setting);
  const config: Config = {
    cells: setting('DBVITALS_CELLS_FILE', null, readCellsFile),
    databaseUrl:
      setting('DATABASE_URL', null, checkStoreUrl) ?? setting('DATABASE_URL_FILE', null, readStoreUrlFile),
    poolerUrl: setting('DBVITALS_POOLER_URL', null, checkPoolerUrl),
    dataDir: setting('DBVITALS_DATA_DIR', '.dbvitals', String),
    givenSecret:
      setting('DBVITALS_SECRET_KEY', null, (text) => parseSecrets('DBVITALS_SECRET_KEY', text)) ??
      setting('DBVITALS_SECRET_KEY_FILE', null, readSecretFile),
    secretFile: setting('DBVITALS_SECRET_KEY_FILE', null, String),
    host,
    port: setting('PORT', 8080, (text) => parsePort('PORT', text)),
    tlsFiles: cert !== null && key !== null ? Object.freeze({ cert, key }) : null,
    basePath: setting('DBVITALS_BASE_PATH', '', parseBasePath),
    metricsPort: setting('METRICS_PORT', null, (text) => parsePort('METRICS_PORT', text)),
    metricsHost: setting('METRICS_HOST', host, (text) => parseHost('METRICS_HOST', text)),
    drainSeconds: setting('DBVITALS_DRAIN_SECONDS', 0, parseDrainSeconds),
    corsOrigins: Object.freeze(setting('DBVITALS_CORS_ORIGINS', [], (text) => split(text).map(parseOrigin))),
    trustProxy: Object.freeze(setting('DBVITALS_TRUST_PROXY', [], (text) => split(text).map(parseNetwork))),
    allowPrivateTargets: flag('DBVITALS_ALLOW_PRIVATE_TARGETS', true),
    allowPrivateDestinations: flag('DBVITALS_ALLOW_PRIVATE_DESTINATIONS', false),
    allowConsoleSockets: flag('DBVITALS_ALLOW_CONSOLE_SOCKETS', false),
    pulse: flag('DBVITALS_PULSE', true),
    activityDays: setting('DBVITALS_ACTIVITY_DAYS', null, parseDays),
    sealFile: setting('DBVITALS_SEAL_FILE', null, parseSealFile),
    publicUrl,
    tokenCommands: setting('DBVITALS_TOKEN_COMMANDS_FILE', {}, readTokenCommands),
    secretsDir: setting('DBVITALS_SECRETS_DIR', null, String),
    ...readMail(setting, (sentence) => problems.push(sentence)),
    singleSignOn: readSignOn(setting, publicUrl, (sentence) => problems.push(sentence)),
    givenApiKey: setting('DBVITALS_API_KEY', null, parseApiKey),
    logLevel: setting('LOG_LEVEL', 'info', parseLogLevel),
    traces: readTraceSettings(setting),
    misspelt: Object.freeze(misspeltSettings(environment)),
  };
  problems.push(...portProblems(config));
  // Some settings are read twice.
  if (problems.length > 0) throw new ConfigError([...new Set(problems), ...config.misspelt]);
  return Object.freeze(config);
}

/** A sentence for each setting that excludes another one, or lacks one that it needs. */
function contradictions(environment: Environment): string[] {
  const given = (...names: string[]) => names.filter((name) => environment[name]?.trim()).length;
  const secrets = given('DBVITALS_SECRET_KEY', 'DBVITALS_SECRET_KEY_FILE');
  const stores = given('DATABASE_URL', 'DATABASE_URL_FILE');
  const poolers = given('DBVITALS_POOLER_URL');
  const hasCells = given('DBVITALS_CELLS_FILE') > 0;
  const problems: string[] = [];
  if (secrets === 2) problems.push('Set DBVITALS_SECRET_KEY or DBVITALS_SECRET_KEY_FILE, not both.');
  if (stores === 2) problems.push('Set DATABASE_URL or DATABASE_URL_FILE, not both.');
  if (hasCells && stores + poolers > 0) {
    problems.push('Set DBVITALS_CELLS_FILE, or DATABASE_URL and DBVITALS_POOLER_URL, not both.');
  }
  if (secrets === 0 && (stores > 0 || hasCells)) {
    problems.push(
      `${hasCells ? 'DBVITALS_CELLS_FILE' : 'DATABASE_URL'} also needs DBVITALS_SECRET_KEY or DBVITALS_SECRET_KEY_FILE: create a key with "openssl rand -hex 32".`,
    );
  }
  if (poolers > 0 && stores === 0 && !hasCells) {
    problems.push('DBVITALS_POOLER_URL also needs DATABASE_URL: the URL of the server behind the pooler.');
  }
  return problems;
}

/** A sentence if the metrics would listen where the API does. */
function portProblems({ host, port, metricsHost, metricsPort }: Config): string[] {
  const isSameHost =
    host === metricsHost || [host, metricsHost].some((one) => one === '0.0.0.0' || one === '::');
  if (port === 0 || port !== metricsPort || !isSameHost) return [];
  return ['PORT and METRICS_PORT are the same port: choose another METRICS_PORT, such as 9090.'];
}

/** The key with which a command calls the API. Throws {@link ConfigError} if there is none. */
export function apiKey(config: Config): string {
  if (config.givenApiKey !== null) return config.givenApiKey;
  throw new ConfigError(['Set DBVITALS_API_KEY to an API key of your account.']);
}
