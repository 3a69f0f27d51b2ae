import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** An ended process of a test. */
interface Ended {
  args: string[];
  /** Its output, without keys that are shown by design. */
  output: string;
  /** The secrets that it was given. */
  secrets: string[];
}

const API_KEY = 'dbv_live_[0-9A-Za-z]{49}';
const LINK = 'link/[0-9A-Za-z_-]{43}(?![0-9A-Za-z_-])';

// The places that show an API key or a link once: `key create`, `key regenerate`, `member link`, and the first startup
// banner.
const SHOWN: [command: RegExp, place: RegExp][] = [
  [/^key (create|regenerate)\b/, new RegExp(`^key +${API_KEY}$|"key":"${API_KEY}"`, 'gm')],
  [/^member link\b/, new RegExp(`^link +\\S+/${LINK}$|"link":"[^"]+/${LINK}"`, 'gm')],
  [/^serve\b/, new RegExp(`^  API key      ${API_KEY} \\(shown once\\)$|^  curl .*Bearer ${API_KEY}"`, 'gm')],
  [/^serve\b/, new RegExp(`^  sign in      \\S+/${LINK} \\(once, within 24 h\\)$`, 'gm')],
];

/** Records a process's output and secrets for {@link leaks}, if the run has a folder for them. */
export function recordOutput(
  args: string[],
  environment: Record<string, string>,
  input: string,
  output: string,
): void {
  const folder = process.env['DBVITALS_TEST_OUTPUT'];
  if (folder === undefined) return;
  let rest = output;
  for (const [command, place] of SHOWN) if (command.test(args.join(' '))) rest = rest.replace(place, '');
  const ended: Ended = { args, output: rest, secrets: secretsOf(args, environment, input) };
  appendFileSync(join(folder, `${process.pid}.ndjson`), `${JSON.stringify(ended)}\n`);
}

const SECRET_INPUTS = ['--password-stdin', '--url-stdin', '--routing-key-stdin', '--authorization-stdin'];

function secretsOf(args: string[], environment: Record<string, string>, input: string): string[] {
  const { DBVITALS_SECRET_KEY = '', DBVITALS_SECRET_KEY_FILE, DBVITALS_DATA_DIR = '' } = environment;
  const { DBVITALS_OIDC_CLIENT_SECRET = '' } = environment;
  const passwords = [...args, ...Object.values(environment)].flatMap(passwordOf);
  const keyFile = args[args.indexOf('--ssh-key-file') + 1];
  return [
    ...passwords,
    ...(SECRET_INPUTS.some((option) => args.includes(option)) ? input.split('\n', 1) : []),
    ...DBVITALS_SECRET_KEY.split(','),
    DBVITALS_OIDC_CLIENT_SECRET,
    ...(DBVITALS_SECRET_KEY_FILE === undefined ? [] : textOf(DBVITALS_SECRET_KEY_FILE).split('\n')),
    ...textOf(join(DBVITALS_DATA_DIR, 'secret.key')).split('\n'),
    // The passwords of the embedded store's roles.
    ...[...textOf(join(DBVITALS_DATA_DIR, 'postgres', 'dbvitals.json')).matchAll(/:"([^"]+)"/g)].map(
      ([, password = '']) => password,
    ),
    ...(args.includes('--ssh-key-file')
      ? textOf(keyFile ?? '')
          .split('\n')
          .filter(isKeyLine)
      : []),
  ];
}

function passwordOf(text: string): string[] {
  const [, password = ''] = /^[a-z]+:\/\/[^:@/]*:([^@]*)@/.exec(text) ?? [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

function isKeyLine(line: string): boolean {
  return /^[0-9A-Za-z+/]{40,}/.test(line);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

// Shorter secrets occur in any text by chance.
const SHORTEST = 6;

// Spreads four characters over a table of 4 MB, as multiplicative hashing does.
const MIX = 0x9e3779b1;
const PLACE_SHIFT = 10;

/** All searched forms of a secret: plain, in a URL, in JSON, in base64 at any offset, its bytes. */
export function formsOf(secret: string): string[] {
  const forms = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    ...base64Of(Buffer.from(secret)),
  ];
  const bytes = /^[0-9a-f]{64}$/i.test(secret) ? Buffer.from(secret, 'hex') : Buffer.from(secret, 'base64');
  if (bytes.length === 32) forms.push(bytes.toString('hex'), ...base64Of(bytes));
  return [...new Set(forms)];
}

/** The base64 characters that depend only on these bytes, for each of the three offsets. */
function base64Of(bytes: Buffer): string[] {
  const own = [0, 1, 2].map((place) => {
    const text = Buffer.concat([Buffer.alloc(place), bytes]).toString('base64url');
    return text.slice(place === 0 ? 0 : place + 1, (place + bytes.length) % 3 === 0 ? undefined : -1);
  });
  return own.flatMap((text) => [text, text.replaceAll('-', '+').replaceAll('_', '/')]);
}

/** Matches any API key, plain or in base64, and any sign-in link. */
export const ANY_KEY = new RegExp(
  [API_KEY, LINK, ...base64Of(Buffer.from('dbv_live_')).map((text) => `${text}[0-9A-Za-z+/_-]{50}`)].join(
    '|',
  ),
);

/** All secrets that the run's processes were given. */
export function recordedSecrets(folder: string): string[] {
  const all = new Set(recorded(folder).flatMap(({ secrets }) => secrets.map((secret) => secret.trim())));
  return [...all].filter((secret) => secret.length >= SHORTEST);
}

/**
 * Finds the first occurrence of any of the forms in a text. A table of the first four characters says where a form can begin, so
 * a hundred megabytes are searched for thousands of forms in a second. An index by strings took 15 times as long.
 */
function finderOf(forms: readonly string[]): (text: string) => string | undefined {
  const byStart = Map.groupBy(forms, (form) => form.slice(0, SHORTEST));
  const starts = new Uint8Array(1 << (32 - PLACE_SHIFT));
  for (const form of forms) {
    let last4 = 0;
    for (let at = 0; at < 4; at++) last4 = (last4 << 8) ^ form.charCodeAt(at);
    starts[Math.imul(last4, MIX) >>> PLACE_SHIFT] = 1;
  }
  return (text) => {
    let last4 = 0;
    for (let end = 0; end < text.length; end++) {
      last4 = (last4 << 8) ^ text.charCodeAt(end);
      if (starts[Math.imul(last4, MIX) >>> PLACE_SHIFT] === 0) continue;
      const at = end - 3;
      const found = byStart.get(text.slice(at, at + SHORTEST))?.find((form) => text.startsWith(form, at));
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** A sentence for each process that printed a secret, its own or another's. It shows the secret, which is only a test's. */
export function leaks(folder: string): string[] {
  const secretIn = finderOf(recordedSecrets(folder).flatMap(formsOf));
  return recorded(folder).flatMap(({ args, output }) => {
    const found = ANY_KEY.exec(output)?.[0] ?? secretIn(output);
    if (found === undefined) return [];
    const at = output.indexOf(found);
    const around = output.slice(Math.max(0, at - 80), at + found.length + 80);
    return [`dbvitals ${args.join(' ')} printed ${found}: ${JSON.stringify(around)}`];
  });
}

function recorded(folder: string): Ended[] {
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line): Ended => JSON.parse(line)),
  );
}

const selectTables = `
  select c.oid::regclass::text as name
    from pg_class c
   where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`;

/** A sentence for each table of a store whose rows contain a secret or any API key. */
export async function storeLeaks(url: string, secrets: string[]): Promise<string[]> {
  const secretIn = finderOf(secrets.flatMap(formsOf));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(selectTables);
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`);
    for (const { row } of rows) {
      const secret = ANY_KEY.exec(row)?.[0] ?? secretIn(row);
      if (secret !== undefined) found.push(`table ${name} holds ${secret}: ${row.slice(0, 400)}`);
    }
  }
  await client.end();
  return found;
}
