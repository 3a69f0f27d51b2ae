import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type mysql from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Finding } from '../../src/checks/check.ts';
import { quoted } from '../../src/checks/mysql/quote.ts';
import { measure } from '../../src/monitor/measure.ts';
import { cleanObject } from '../../src/monitor/outcome.ts';
import type { Target } from '../../src/monitor/session/session.ts';
import { expectOnPages } from '../support/expect-on-pages.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { paste } from './paste.ts';
import { type TableCase, tableCases } from './table-cases.ts';
import { ENGINE, ON_MYSQL } from './tested-server.ts';

/** Every remediation that was seen. */
const printed: string[] = [];

const THRESHOLDS = {
  MY_NO_PRIMARY_KEY: { minimum_bytes: 0 },
  MY_REDUNDANT_INDEX: { minimum_bytes: 0 },
  MY_UNUSED_INDEX: { statistics_days: 0, minimum_bytes: 1 },
  MY_INDEX_GT_DATA: { minimum_bytes: 1 },
};

const UNPRINTABLE = '\t\n\r\u0001\u202e\u2028\u00a0';
const AWKWARD = `\`'"\\;-- #/*%s$&é日`;

/** The most characters of a name. */
const LONGEST = 64;

/** The same cases with plain names, and with names that a terminal changes. Beside each hostile one stands a decoy. */
const namings = [
  { schema: 'plain', of: (name: string) => name, mode: 'TRADITIONAL' },
  {
    schema: `sh op${UNPRINTABLE}${AWKWARD}`,
    of: (name: string) => `${name.slice(0, 24)}${UNPRINTABLE}${AWKWARD}`.padEnd(LONGEST, 'x'),
    mode: 'TRADITIONAL,NO_BACKSLASH_ESCAPES,ANSI_QUOTES',
  },
  {
    schema: `sh op       ${AWKWARD}`,
    of: (name: string) => `${name.slice(0, 24)}       ${AWKWARD}`.padEnd(LONGEST, 'x'),
    mode: '',
  },
] as const;
type Naming = (typeof namings)[number];

/** Each case has a schema of its own: more than three notes on a schema would be one finding. */
const schemaOf = (naming: Naming, { name }: TableCase) => `${naming.schema}${name}`;

const pasted = namings.filter(({ mode }) => mode !== '');

let server: MysqlServer;
let session: mysql.Connection;
let found: Finding[] = [];

beforeAll(async () => {
  server = await MysqlServer.start();
  session = await server.open();
  await session.query("set names utf8mb4, sql_mode = 'NO_ENGINE_SUBSTITUTION'");
  for (const naming of namings) {
    for (const each of casesOf()) {
      await session.query(`create database ${quoted(schemaOf(naming, each))}`);
      await session.query(`use ${quoted(schemaOf(naming, each))}`);
      for (const statement of each.create) await session.query(named(statement, each, naming));
    }
  }
  found = await findings();
  printed.push(...found.map(({ remediation }) => remediation));
}, 300_000);
afterAll(async () => {
  await session?.end();
  await server?.stop();
});

const target = (): Target => ({
  engine: ENGINE,
  connectionType: 'unix_socket',
  host: server.socket,
  port: 3306,
  database: '',
  username: 'watcher',
  password: PASSWORD,
  tls: 'disable',
  passwordExposable: false,
  caCertificate: null,
  tunnel: null,
});

async function findings(): Promise<Finding[]> {
  const { outcomes } = await measure(target(), {
    signal: AbortSignal.timeout(120_000),
    allowPrivateTargets: true,
    thresholds: THRESHOLDS,
  });
  return outcomes.flatMap((outcome) => outcome.findings);
}

const findingOf = (all: Finding[], each: TableCase, naming: Naming) => {
  const schema = schemaOf(naming, each);
  const table = quoted(schema, naming.of(each.name));
  const objects = [table, `${table}.${quoted(naming.of('index'))}`, quoted(schema)].map(cleanObject);
  return all.find(({ check_id, object }) => check_id === each.check && objects.includes(object ?? ''));
};

test.each([...new Set(tableCases.map(({ check }) => check))])(
  '%s: what it prints can be pasted',
  async (check) => {
    const before = await snapshot(session);
    const mended = new Map<string, string>();
    for (const each of casesOf()) {
      if (each.check !== check) continue;
      for (const naming of pasted) {
        const { remediation = 'no finding' } = findingOf(found, each, naming) ?? {};
        const where = `${naming.schema}, ${each.name}: ${remediation}`;
        const output = pasteIn(naming.mode, remediation, where);
        const kind = kindOf(each);
        expect(remediation.includes(' -- then') ? 'steps' : 'sql', where).toBe(kind);
        if (kind === 'sql') mended.set(quoted(schemaOf(naming, each), naming.of(each.name)), where);
        else if (/SHOW |MAX\(|key_column_usage/.test(remediation)) expect(output, where).not.toBe('');
      }
    }

    const after = await snapshot(session);
    const changed = [...after].filter(([table, { seen }]) => seen !== before.get(table)?.seen);
    expect(changed.map(([table]) => table).sort()).toEqual([...mended.keys()].sort());
    for (const [table, { rows, definition, collations }] of changed) {
      const earlier = before.get(table);
      const where = mended.get(table) ?? '';
      expect(rows, where).toBe(earlier?.rows);
      expect(unaltered(check, definition), where).toEqual(unaltered(check, earlier?.definition ?? ''));
      if (check === 'MY_CHARSET_LEGACY')
        expect(collations, where).toBe(earlier?.collations.replaceAll('utf8mb3_', 'utf8mb4_'));
    }
  },
  300_000,
);

test('the page of each check shows what the check prints', () => {
  const plain = found.filter(({ object }) => object?.startsWith('`plain'));
  expectOnPages(plain.map(({ check_id, remediation }) => [check_id, remediation]));
});

test('the checks are silent about what was mended', async () => {
  const left = await findings();
  for (const each of casesOf()) {
    for (const naming of pasted) {
      const still = findingOf(left, each, naming)?.object !== undefined;
      expect(still, `${naming.schema}, ${each.name}`).toBe(kindOf(each) === 'steps');
    }
  }
});

test.each(pasted)(
  'what a finding on a schema prints can be pasted under $mode',
  async ({ schema, of, mode }) => {
    const object = cleanObject(quoted(schema));
    await session.query(`create database ${quoted(schema)}`);
    const short = (name: string) => unpadded(of(name)); // so that all statements fit
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const table = quoted(schema, short(name));
      await session.query(
        `create table ${table} (x int, key (x), key ${quoted(short('two'))} (x), key (x desc))`,
      );
    }
    const own = async () => (await findings()).filter((finding) => finding.object === object);
    const seen = new Set<string>();
    // Names as bytes are long: the finding has room for a few statements, and the next run for the rest.
    for (let left = await own(); left.length > 1; left = await own()) {
      for (const { check_id, remediation } of left.sort((a, b) => (a.check_id < b.check_id ? 1 : -1))) {
        const lines = pasteIn(mode, remediation, remediation).split('\n').length;
        expect(lines > 5, remediation).toBe(check_id === 'MY_INDEX_GT_DATA');
        seen.add(check_id);
      }
    }
    expect([...seen]).toEqual(['MY_UNUSED_INDEX', 'MY_REDUNDANT_INDEX', 'MY_INDEX_GT_DATA']);
    await session.query(`drop database ${quoted(schema)}`);
  },
);

test('a MyISAM table that a MERGE table may read is not converted without a look', async () => {
  await server.run([
    'create database merged',
    'create table merged.part (a int) engine = MyISAM',
    'create table merged.whole (a int) engine = MERGE union = (merged.part)',
  ]);
  const part = (await findings()).find(({ object }) => object === '`merged`.`part`');
  expect(part?.remediation).toMatch(/^SHOW CREATE TABLE `merged`.`part`; -- then .* MERGE/);
  printed.push(part?.remediation ?? '');
});

test('where the server requires a primary key, a table without one is not converted without a look', async () => {
  const setting = ON_MYSQL ? 'sql_require_primary_key' : 'innodb_force_primary_key';
  await server.run([
    'drop database merged',
    'create database bare',
    'create table bare.list (a int) engine = MyISAM',
    `set global ${setting} = 1`,
  ]);
  const list = (await findings()).find(({ object }) => object === '`bare`.`list`');
  expect(list?.remediation).toMatch(/^SHOW CREATE TABLE `bare`.`list`; -- then add a primary key/);
  printed.push(list?.remediation ?? '');
});

test('a primary key that MySQL generated and hides is seen', async () => {
  if (!ON_MYSQL) return;
  const hiding = (shown: number) =>
    server.run(`set global show_gipk_in_create_table_and_information_schema = ${shown}`);
  await hiding(0);
  await server.run(['set sql_generate_invisible_primary_key = 1', 'create table shop.generated (a int)']);
  expect((await findings()).filter(({ object }) => object === '`shop`.`generated`')).toEqual([]);
  await hiding(1);
});

test('every remediation of the checks of tables has a case', () => {
  const unseen = phrases().filter((phrase) => !printed.some((remediation) => remediation.includes(phrase)));
  expect(unseen).toEqual(OTHER_ENGINE[ENGINE]);
});

/** What only the other engine makes the checks print, in the order of {@link phrases}. */
const OTHER_ENGINE = {
  mysql: [
    "-- then copy the rows to a new table with a primary key: MariaDB can't add one to the history of a system-versioned table",
  ],
  mariadb: [
    '-- then make the column bigint with MODIFY, and repeat the rest of its definition',
    'remove the options that only its engine has, and convert it to InnoDB',
  ],
};

/** Each text between the names in what the checks of tables print. */
function phrases(): string[] {
  const folder = join(import.meta.dirname, '../../src/checks/mysql');
  const files = [
    ...new Set(tableCases.map(({ check }) => check.slice(3).toLowerCase().replaceAll('_', '-'))),
  ];
  return files.flatMap((file) => {
    const source = readFileSync(join(folder, `${file}.ts`), 'utf8').replace(
      /^ *(?:metricLine|passMessage):.*$/gm,
      '',
    );
    const literals = [...source.matchAll(/(?:return|\?|:|\() *\n? *(['"`])((?:(?!\1)[^\n])+)\1/g)].map(
      ([, , text = '']) => text,
    );
    return literals
      .filter((text) =>
        /-- |^(?:ADD|ALTER INDEX|CONVERT TO|DROP INDEX|ENGINE|MODIFY) |^[a-z].* (?:and|it) /.test(text),
      )
      .map((text) =>
        text
          .split(/\$\{(?:[^{}`]|`[^`]*`)*\}/)
          .reduce((one, other) => (other.length > one.length ? other : one))
          .trim(),
      );
  });
}

function casesOf(): TableCase[] {
  return tableCases.filter((each) => kindOf(each) !== undefined);
}

function kindOf({ kind }: TableCase): string | undefined {
  return typeof kind === 'string' ? kind : kind[ENGINE];
}

/** What the client prints of the line in a session with the SQL mode, which must be the same afterwards. */
function pasteIn(mode: string, line: string, where: string): string {
  const lines = (() => {
    try {
      return paste(server, `set sql_mode = '${mode}';\nselect @@sql_mode;\n${line}\nselect @@sql_mode;`);
    } catch (error) {
      throw new Error(where, { cause: error });
    }
  })()
    .trim()
    .split('\n');
  expect(lines.at(-1), where).toBe(lines[0]);
  return lines.slice(1, -1).join('\n');
}

const unpadded = (name: string) => name.replace(/x+$/, 'x');

function named(statement: string, { name }: TableCase, { of }: Naming): string {
  const inner = (text: string) => quoted(text).slice(1, -1);
  return (
    statement
      // MySQL names a check after its table, which is too long for that.
      .replace('check (', ON_MYSQL ? 'constraint c check (' : 'check (')
      .replaceAll('{t}', () => quoted(of(name)))
      // Not padded: the server names a foreign key after it, and counts escapes.
      .replaceAll('{o}', () => quoted(unpadded(of(`other_${name}`))))
      .replaceAll('{n}', () => inner(of('index')))
  );
}

interface State {
  definition: string;
  rows: string;
  collations: string;
  seen: string;
}

/** Every table of the test, by its quoted name. */
async function snapshot(session: mysql.Connection): Promise<Map<string, State>> {
  const rowsOf = async (statement: string) =>
    (
      await session.query<mysql.RowDataPacket[]>({ sql: statement, rowsAsArray: true })
    )[0] as unknown as string[][];
  const schemas = namings
    .flatMap((naming) => casesOf().map((each) => session.escape(schemaOf(naming, each))))
    .join(', ');
  const columns = await rowsOf(
    `select table_schema, table_name, group_concat(column_name, ' ', collation_name order by ordinal_position)
       from information_schema.columns where table_schema in (${schemas}) group by 1, 2`,
  );
  const states = new Map<string, State>();
  for (const [schema = '', name = '', collations = ''] of columns) {
    const table = quoted(schema, name);
    const [[, definition = ''] = []] = await rowsOf(`show create table ${table}`);
    const rows = JSON.stringify(await rowsOf(`select * from ${table}`));
    states.set(table, { definition, rows, collations: collations ?? '', seen: `${definition}${rows}` });
  }
  return states;
}

/** The lines of a definition without what the remediation of the check is to change. */
function unaltered(check: string, definition: string): string[] {
  const lines = definition
    .replaceAll(UNPRINTABLE, ' ')
    .replace(/ AUTO_INCREMENT=\d+/, '')
    .split('\n')
    .map((line) => line.replace(/,$/, ''));
  const without = (...patterns: RegExp[]) =>
    lines
      .map((line) => patterns.reduce((text, pattern) => text.replace(pattern, ''), line))
      .filter((line) => line !== '');
  const OWN = '`(?:id|row_id|dbvitals_row_id)`';
  switch (check) {
    case 'MY_NO_PRIMARY_KEY':
      return without(
        new RegExp(`^ *${OWN} bigint.* AUTO_INCREMENT.*`),
        new RegExp(`^ *PRIMARY KEY \\(${OWN}\\)`),
      );
    case 'MY_AUTOINC_EXHAUSTION':
      return without(/\w*int(?:\(\d+\))?(?=.* AUTO_INCREMENT)/);
    case 'MY_CHARSET_LEGACY':
      return without(/_utf8mb[34](?=')/g, / CHARACTER SET \w+/g, / COLLATE[ =]\w+/g, / DEFAULT CHARSET=\w+/);
    case 'MY_NON_INNODB':
      return without(/ENGINE=\w+/, / ROW_FORMAT=\w+/, / KEY_BLOCK_SIZE=\d+/, / USING HASH/);
    case 'MY_REDUNDANT_INDEX':
      return without(/^ *(?:UNIQUE )?KEY `index.*/);
    default:
      return without(/ \/\*!80000 INVISIBLE \*\/| IGNORED/);
  }
}
