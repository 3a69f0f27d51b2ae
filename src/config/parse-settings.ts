import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname } from 'node:path';
import { parsePoolerUrl, parseStoreUrl } from './store-url.ts';
import { readSettingFile } from './text-file.ts';

// Each parser turns a setting's text into its value. It throws one sentence that says what to write and does not repeat the text.

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** The log level, one of pino's. */
export type LogLevel = (typeof LOG_LEVELS)[number];

export function checkStoreUrl(text: string): string {
  parseStoreUrl(text);
  return text;
}

export function readStoreUrlFile(path: string): string {
  return checkStoreUrl(readSettingFile('DATABASE_URL_FILE', path));
}

export function checkPoolerUrl(text: string): string {
  parsePoolerUrl(text);
  return text;
}

export function parseHost(name: string, text: string): string {
  if (isIP(text) || /^[0-9A-Za-z]([0-9A-Za-z.-]*[0-9A-Za-z])?$/.test(text)) return text;
  throw new Error(`${name} must be an address or a host name, such as 127.0.0.1.`);
}

// A proxy may remove the base path or keep it. A base path like one of these would then be ambiguous.
const OWN_PATHS = [
  'account',
  'activity',
  'api',
  'assets',
  'connections',
  'console',
  'docs',
  'fleet',
  'keys',
  'link',
  'livez',
  'readyz',
  'sessions',
  'sign-in',
  'team',
  'tickets',
];

export function parseBasePath(text: string): string {
  const steps = text.replace(/\/$/, '').split('/').slice(1);
  const plain = steps.every((step) => /^[\w~-][\w.~-]*$/.test(step));
  if (text.startsWith('/') && plain && !OWN_PATHS.includes(steps[0] ?? '')) {
    return steps.map((step) => `/${step}`).join('');
  }
  throw new Error(
    "DBVITALS_BASE_PATH must be a path such as /dbvitals, and must not begin with one of dbvitals' own paths such as /api or /fleet.",
  );
}

export function parsePort(name: string, text: string): number {
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Error(`${name} must be a port, 0 to 65535.`);
}

// Service managers kill a service that takes too long to stop: by default Kubernetes after 30 s, systemd after 90 s.
const LONGEST_DRAIN = 300;

export function parseDrainSeconds(text: string): number {
  if (/^[0-9]{1,3}$/.test(text) && Number(text) <= LONGEST_DRAIN) return Number(text);
  throw new Error(`DBVITALS_DRAIN_SECONDS must be a whole number of seconds, 0 to ${LONGEST_DRAIN}.`);
}

export function parseOrigin(text: string): string {
  if (/^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text) return text;
  throw new Error(
    'DBVITALS_CORS_ORIGINS must list origins such as https://console.example.com, comma-separated.',
  );
}

export function parseNetwork(text: string): string {
  const [, address = '', prefix] = /^([^/]+)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
  if (isIP(address) && Number(prefix ?? 0) <= (isIP(address) === 6 ? 128 : 32)) return text;
  throw new Error(
    'DBVITALS_TRUST_PROXY must list addresses such as 10.0.0.1 or 10.0.0.0/8, comma-separated.',
  );
}

export function yesNo(name: string): (text: string) => boolean {
  return (text) => {
    if (text === 'yes' || text === 'no') return text === 'yes';
    throw new Error(`${name} must be yes or no.`);
  };
}

// A hundred years. Times before the start of PostgreSQL's calendar could not be compared.
const MOST_DAYS = 36_500;

export function parseDays(text: string): number {
  if (/^[1-9][0-9]{0,4}$/.test(text) && Number(text) <= MOST_DAYS) return Number(text);
  throw new Error(`DBVITALS_ACTIVITY_DAYS must be a whole number of days, 1 to ${MOST_DAYS}.`);
}

/** Checks the folder at the start, because the file is opened only when there is a seal to append. */
export function parseSealFile(text: string): string {
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isFolder(dirname(text)) && !isFolder(text)) return text;
  throw new Error('DBVITALS_SEAL_FILE must name a file in an existing folder.');
}

/** Rejects only characters that a header can't contain. The service decides whether it is a valid key. */
export function parseApiKey(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new Error('DBVITALS_API_KEY must be an API key, without blanks or line breaks.');
}

export function parseLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text);
  if (level) return level;
  throw new Error(`LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}.`);
}

export function split(list: string): string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
