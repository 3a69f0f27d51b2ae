import type { BackupSource } from '../../connections/backups/backup-sources.ts';
import type { BackupReport } from '../../connections/backups/store-reports.ts';
import { cleanText } from '../../platform/text/clean-text.ts';
import { UsageError } from '../usage-error.ts';

/** The tools whose own reports are read. */
export const BACKUP_TOOLS = ['pgbackrest', 'barman', 'walg', 'mariabackup'] as const;

export type BackupTool = (typeof BACKUP_TOOLS)[number] & BackupSource;

/** A report is a file of a stranger's tool: beyond this it is none. */
export const LARGEST_REPORT = 8 * 1024 * 1024;
/** The newest backups of a report that are read. */
const MOST = 500;
/** A clock that is fast by more is wrong, and its backup would count as new for as long. */
const FAST_CLOCK_MS = 10 * 60_000;
const OLDEST = Date.parse('2000-01-01');
const LONGEST_LABEL = 200;

/** What is read of a report. */
interface Report {
  text: string;
  /** The stanza of pgBackRest or the server of Barman; undefined = the only one. */
  name?: string | undefined;
  now?: Date;
}

type Json = Readonly<Record<string, unknown>>;

/** Parses the report of a tool: the newest backups that ended. Throws a {@link UsageError} that says what is wrong. */
export function parseReport(tool: BackupTool, { text, name, now = new Date() }: Report): BackupReport[] {
  if (text.length > LARGEST_REPORT) throw new UsageError('The report is larger than 8 MiB.');
  const reports = PARSERS[tool](text, name);
  const tooLate = reports.find(({ at }) => new Date(at).getTime() > now.getTime() + FAST_CLOCK_MS);
  if (tooLate)
    throw new UsageError(
      `Backup ${tooLate.label} ended in the future: correct the clock of the machine that made it.`,
    );
  return reports.toSorted((a, b) => new Date(b.at).getTime() - new Date(a.at).getTime()).slice(0, MOST);
}

const PARSERS: Readonly<Record<BackupTool, (text: string, name: string | undefined) => BackupReport[]>> = {
  pgbackrest: parsePgBackRest,
  barman: parseBarman,
  walg: parseWalG,
  mariabackup: parseMariabackup,
};

/** `pgbackrest info --output=json`: a list of stanzas. It lists no failed backups; `error` means damaged pages. */
function parsePgBackRest(text: string, name: string | undefined): BackupReport[] {
  const stanzas = listIn(parseJson(text), 'the report').map((one) => objectIn(one, 'a stanza'));
  const names = stanzas.map((stanza) => textIn(stanza, 'name'));
  const stanza = stanzas[chosen(names, name, '--stanza')] ?? {};
  const backups = listIn(stanza['backup'], 'backup');
  if (backups.length === 0) requireReadStanza(stanza);
  return backups.map((one) => {
    const backup = objectIn(one, 'a backup');
    const { start, stop } = objectIn(backup['timestamp'], 'timestamp');
    const { size } = objectIn(backup['info'], 'info');
    return {
      label: textIn(backup, 'label'),
      at: instantOf(stop, 'timestamp.stop'),
      startedAt: instantOf(start, 'timestamp.start'),
      succeeded: backup['error'] !== true,
      bytes: bytesOf(size, 'info.size'),
    };
  });
}

/** Good, and good without a backup so far. With any other status, pgBackRest could not look. */
const READ = [0, 2];

/** Throws if the tool says why it lists nothing: it exits with 0 also for a stanza that is not there, or a repository out of reach. */
function requireReadStanza(stanza: Json): void {
  const { code, message } = isObject(stanza['status']) ? stanza['status'] : {};
  if (code === undefined || READ.includes(Number(code))) return;
  const said = typeof message === 'string' ? cleanText(message, LONGEST_LABEL) : `status ${Number(code)}`;
  throw new UsageError(`pgBackRest could not read the stanza ${textIn(stanza, 'name')}: ${said}.`);
}

/** Copied, and the WAL that it needs has arrived or is on its way. */
const DONE = ['DONE', 'WAITING_FOR_WALS'];

const INCOMPARABLE = ['incremental', 'snapshot'];

/** `barman --format json list-backup`: an object of lists by server. A failed one has no time but that of its id. */
function parseBarman(text: string, name: string | undefined): BackupReport[] {
  const servers = objectIn(parseJson(text), 'the report');
  const names = Object.keys(servers).filter((key) => !key.startsWith('_'));
  const list = listIn(servers[names[chosen(names, name, '--server')] ?? ''], 'the server');
  return list.flatMap((one): BackupReport[] => {
    const backup = objectIn(one, 'a backup');
    const label = textIn(backup, 'backup_id');
    const status = textIn(backup, 'status');
    if (status === 'FAILED')
      return [{ label, at: instantOfId(label), startedAt: null, succeeded: false, bytes: null }];
    if (!DONE.includes(status)) return [];
    const at = instantOf(Number(textIn(backup, 'end_time_timestamp')), 'end_time_timestamp');
    const size = backup['size_bytes'] ?? null;
    // An increment has the size of what changed, and a snapshot none: neither says how much there is.
    const isWhole = size !== null && !INCOMPARABLE.includes(String(backup['backup_type']));
    const bytes = isWhole ? bytesOf(size, 'size_bytes') : null;
    return [{ label, at, startedAt: null, succeeded: true, bytes }];
  });
}

/** `wal-g backup-list --detail --json`: a list; only backups that succeeded are in it. */
function parseWalG(text: string): BackupReport[] {
  // It prints null for an empty list.
  return listIn(parseJson(text) ?? [], 'the report').map((one) => {
    const backup = objectIn(one, 'a backup');
    // For PostgreSQL, and for MySQL.
    const at = backup['finish_time'] ?? backup['stop_local_time'];
    if (at === undefined && backup['time'] !== undefined)
      throw wrong('the times of backups are missing: add --detail to wal-g backup-list');
    const started = backup['start_time'] ?? backup['start_local_time'] ?? null;
    const size = backup['uncompressed_size'] ?? null;
    const label = textIn(backup, 'backup_name');
    // A delta has the size of what changed, and a snapshot 0: neither says how much there is.
    const isWhole = size !== null && size !== 0 && !label.includes('_D_');
    return {
      label,
      at: instantIn(at, 'finish_time'),
      startedAt: started === null ? null : instantIn(started, 'start_time'),
      succeeded: true,
      bytes: isWhole ? bytesOf(size, 'uncompressed_size') : null,
    };
  });
}

const COLUMNS = ['uuid', 'start_time', 'end_time'];

/**
 * The columns uuid, start_time and end_time of the history table, in UTC, as `mariadb --batch` prints them. The table lists
 * only backups that succeeded, without their sizes.
 */
function parseMariabackup(text: string): BackupReport[] {
  const [head = '', ...rows] = text.split(/\r?\n/).filter((line) => line !== '');
  if (head.split('\t').join() !== COLUMNS.join())
    throw wrong(`the first line must name the columns ${COLUMNS.join(', ')}`);
  return rows.map((row) => {
    const [label = '', started = '', ended = '', ...more] = row.split('\t');
    if (label === '' || more.length > 0) throw wrong('a row must have three columns');
    const utc = (time: string) => instantIn(time.replace(/^(\S+) (\S+)$/, '$1T$2Z'), 'a time');
    return { label: labelOf(label), at: utc(ended), startedAt: utc(started), succeeded: true, bytes: null };
  });
}

function chosen(names: readonly string[], name: string | undefined, option: string): number {
  if (names.length === 0) throw wrong('it lists nothing');
  if (name === undefined && names.length === 1) return 0;
  const at = names.indexOf(name ?? '');
  if (at !== -1) return at;
  const listed = names.slice(0, 10).join(', ');
  throw new UsageError(`Choose one with ${option}: the report has ${listed}.`);
}

function wrong(what: string): UsageError {
  return new UsageError(`This is not a report of the tool: ${what}.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong('it is not JSON');
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectIn(value: unknown, what: string): Json {
  if (isObject(value)) return value;
  throw wrong(`${what} must be an object`);
}

function listIn(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw wrong(`${what} must be a list`);
}

function textIn(object: Json, name: string): string {
  const value = object[name];
  if (typeof value !== 'string' || value === '') throw wrong(`${name} must be a text`);
  return labelOf(value);
}

function labelOf(text: string): string {
  if (text.length > LONGEST_LABEL || cleanText(text, LONGEST_LABEL) !== text)
    throw wrong('a name is too long, or has characters that do not print');
  return text;
}

function bytesOf(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw wrong(`${what} must be a number of bytes`);
}

/** From Unix seconds. */
function instantOf(seconds: unknown, what: string): Date {
  return validInstant(typeof seconds === 'number' ? seconds * 1_000 : Number.NaN, what);
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

function instantIn(text: unknown, what: string): Date {
  const isTime = typeof text === 'string' && RFC_3339.test(text);
  return validInstant(isTime ? Date.parse(text) : Number.NaN, what);
}

/** From `20240814T015546`, in the time zone of this process. */
function instantOfId(id: string): Date {
  const local = id.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)$/, '$1-$2-$3T$4:$5:$6');
  return validInstant(local === id ? Number.NaN : Date.parse(local), 'backup_id');
}

function validInstant(milliseconds: number, what: string): Date {
  // 8.64e15 is the last that a Date can hold, and later ones are in the future anyway.
  if (milliseconds >= OLDEST && milliseconds <= 8.64e15) return new Date(milliseconds);
  throw wrong(`${what} must be a time`);
}
