import { UNPRINTABLE } from '../../platform/text/clean-text.ts';
import { familyOf, type SqlEngine, type SqlFamily } from '../../vocabulary/engines.ts';

/** The longest statement of an own check, in characters. */
export const LONGEST_SQL = 10_000;

/** A part of a statement: a word in lower case, the same in quotes (a name), or one other character. */
interface Part {
  kind: 'word' | 'name' | 'sign';
  text: string;
  /** Its place in the statement. */
  at: number;
}

// As the servers read them: to both, every character that is not ASCII belongs to a name.
const WORD = String.raw`(?<word>[A-Za-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*)`;

const OF_POSTGRES = [
  String.raw`(?<blank>\s+|--[^\n\r]*)`,
  String.raw`(?<comment>/\*)`,
  `(?<encoded>[uU]&["'])`,
  String.raw`(?<value>[eE]'(?:[^'\\]|''|\\[^])*'|(?:[nNbBxX])?'(?:[^']|'')*')`,
  String.raw`(?<dollar>\$(?:[A-Za-z_\u0080-\u{10ffff}][\w\u0080-\u{10ffff}]*)?\$)`,
  '"(?<name>(?:[^"]|"")+)"',
  WORD,
  `(?<sign>[^'"])`,
].join('|');

const OF_MYSQL = [
  String.raw`(?<blank>\s+|--(?=\s|$)[^\n]*|#[^\n]*)`,
  String.raw`(?<comment>/\*)`,
  String.raw`(?<value>'(?:[^'\\]|''|\\[^])*'|"(?:[^"\\]|""|\\[^])*")`,
  String.raw`(?<quoting>\$[\w\u0080-\u{10ffff}]*\$)`,
  String.raw`\x60(?<name>(?:[^\x60]|\x60\x60)+)\x60`,
  WORD,
  String.raw`(?<sign>[^'"\x60])`,
].join('|');

const PARTS: Readonly<Record<SqlFamily, string>> = { postgres: OF_POSTGRES, mysql: OF_MYSQL };

/** Functions that wait, lock, read files, or act outside of the transaction: READ ONLY does not stop them, or only some. */
const OF_SERVER: Readonly<Record<SqlFamily, RegExp>> = {
  postgres:
    /^(?:set_config|nextval|setval|lo_\w+|loread|lowrite|dblink\w*|query_to_xml\w*|cursor_to_xml\w*|ts_stat|ts_rewrite|xpath_table|crosstab\w*|connectby|pg_sleep\w*|pg_read_\w+|pg_ls_dir|pg_stat_file|pg_file_\w+|pg_terminate_backend|pg_cancel_backend|pg_reload_conf|pg_rotate_logfile\w*|pg_switch_wal|pg_create_\w+|pg_drop_\w+|pg_copy_\w+slot|pg_promote|pg_notify|pg_export_snapshot|pg_logical_\w+|pg_wal_replay_\w+|pg_backup_\w+|pg_(?:start|stop)_backup|pg_sync_replication_slots|gin_clean_pending_list|brin_(?:de)?summarize_\w+|pg_(?:try_)?advisory_\w+|pg_replication_\w+|pg_stat_reset\w*|pg_stat_statements_reset|pg_prewarm|pg_buffercache_evict\w*|pg_log_\w+|pg_import_system_collations|pg_current_xact_id|txid_current)$/,
  mysql:
    /^(?:sleep|benchmark|load_file|get_lock|release_lock|release_all_locks|nextval|setval|master_pos_wait|source_pos_wait|master_gtid_wait|wait_for_executed_gtid_set|wait_until_sql_thread_after_gtids|wsrep_sync_wait_upto_gtid|service_\w+_locks|sys_\w+|group_replication_\w+|asynchronous_connection_failover_\w+|keyring_key_\w+|audit_log_\w+|audit_api_\w+)$/,
};

/** What is wrong with a statement of an own check, in one sentence, or the statement without its semicolon. */
export type ReadStatement = { problem: string } | { statement: string };

/**
 * The statement of an own check as it is sent. Inside of a subquery, a server parses nothing but a SELECT, without INTO and
 * without a WITH that writes.
 */
export function asSubquery(statement: string): string {
  return `select * from (${statement}\n) as own_check`;
}

/**
 * Reads the statement of an own check as its server would. The server refuses what this misses: it gets one statement, as a
 * subquery, in a READ ONLY transaction that is rolled back.
 */
export function readOwnStatement(engine: SqlEngine, sql: string): ReadStatement {
  if (sql.length > LONGEST_SQL)
    return { problem: `The statement is longer than ${LONGEST_SQL.toLocaleString('en-US')} characters.` };
  if (sql.includes('\0')) return { problem: 'The statement has a null character.' };
  const [hidden] = UNPRINTABLE.exec(sql.replace(/[\n\r\t]/g, ' ')) ?? [];
  if (hidden !== undefined) return { problem: hiddenIn(hidden) };
  const parts = readParts(engine, sql);
  if (!Array.isArray(parts)) return parts;
  const end = parts.findIndex(({ text }) => text === ';');
  if (end >= 0 && parts.slice(end).some(({ text }) => text !== ';'))
    return { problem: 'There are several statements: write one SELECT.' };
  const own = end < 0 ? parts : parts.slice(0, end);
  const problem = findProblem(engine, own);
  return problem === null ? { statement: sql.slice(0, parts[end]?.at ?? sql.length).trim() } : { problem };
}

/** Such a character makes a statement look like another one on a page or a terminal. */
function hiddenIn(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `The statement has the character U+${code}, which does not show: leave it out, or write it with chr() or char().`;
}

function findProblem(engine: SqlEngine, parts: readonly Part[]): string | null {
  const first = parts.find(({ text }) => text !== '(');
  if (!first) return 'The statement is empty.';
  if (first.kind !== 'word' || !['select', 'with'].includes(first.text))
    return `The statement must be a SELECT: it begins with ${first.text.slice(0, 40).toUpperCase()}.`;
  const called = OF_SERVER[familyOf(engine)];
  for (const [place, { kind, text }] of parts.entries()) {
    const [next, afterNext] = [parts[place + 1]?.text, parts[place + 2]?.text];
    if (kind !== 'sign' && next === '(' && called.test(text))
      return `The statement calls ${text}, which an own check may not call: leave it out.`;
    if (kind !== 'word') continue;
    if (text === 'into') return 'The statement has INTO, which writes: leave it out.';
    if (text === 'for' && ['update', 'share', 'no', 'key'].includes(next ?? ''))
      return 'The statement locks rows: leave out FOR UPDATE or FOR SHARE.';
    if (text === 'lock' && next === 'in' && afterNext === 'share')
      return 'The statement locks rows: leave out LOCK IN SHARE MODE.';
    if (text === 'next' && next === 'value' && afterNext === 'for')
      return 'The statement advances a sequence: leave out NEXT VALUE FOR.';
  }
  return null;
}

function readParts(engine: SqlEngine, sql: string): Part[] | { problem: string } {
  const pattern = new RegExp(PARTS[familyOf(engine)], 'suy');
  const parts: Part[] = [];
  let isAfterValue = false;
  while (pattern.lastIndex < sql.length) {
    const at = pattern.lastIndex;
    const found = pattern.exec(sql)?.groups;
    if (!found) return { problem: 'A string or a name in the statement does not end.' };
    const { blank, comment, dollar, encoded, name, quoting, value, word, sign } = found;
    if (quoting !== undefined)
      return { problem: 'The statement has a text in dollar signs: write it in single quotes.' };
    // Over a line break, PostgreSQL reads them as one: with the backslashes of the first.
    if (value !== undefined && isAfterValue && engine === 'postgres')
      return { problem: 'The statement has two texts side by side: join them with ||.' };
    if (blank === undefined && comment === undefined) isAfterValue = value !== undefined;
    if (encoded !== undefined)
      return { problem: 'The statement has a text with U&: write the characters themselves.' };
    if (comment !== undefined) {
      if (/^(?:!|M!|\+)/i.test(sql.slice(pattern.lastIndex, pattern.lastIndex + 2)))
        return { problem: 'The statement has a comment that the server obeys (/*! or /*+): leave it out.' };
      const end = endOfComment(sql, pattern.lastIndex, engine === 'postgres');
      if (end === null) return { problem: 'A comment in the statement does not end.' };
      pattern.lastIndex = end;
    } else if (dollar !== undefined) {
      const end = sql.indexOf(dollar, pattern.lastIndex);
      if (end < 0) return { problem: 'A string or a name in the statement does not end.' };
      pattern.lastIndex = end + dollar.length;
    }
    if (name !== undefined) parts.push({ kind: 'name', text: name.toLowerCase(), at });
    else if (word !== undefined) parts.push({ kind: 'word', text: word.toLowerCase(), at });
    else if (sign !== undefined) parts.push({ kind: 'sign', text: sign, at });
  }
  return parts;
}

/** The place behind a comment, which holds others in PostgreSQL only. Null if it does not end. */
function endOfComment(sql: string, from: number, isNested: boolean): number | null {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = from;
  let depth = 1;
  for (let mark = marks.exec(sql); mark; mark = marks.exec(sql)) {
    if (mark[0] === '*/') depth -= 1;
    else if (isNested) depth += 1;
    if (depth === 0) return marks.lastIndex;
  }
  return null;
}
