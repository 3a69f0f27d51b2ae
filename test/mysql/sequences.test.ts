import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { quoted } from '../../src/checks/mysql/quote.ts';
import { statementLock } from '../../src/checks/statement-lock.ts';
import { expectOnPages } from '../support/expect-on-pages.ts';
import type { SeenJudgement } from '../support/seen-judgement.ts';
import { measure } from './measure.ts';
import { MysqlServer } from './mysql-server.ts';
import { paste } from './paste.ts';
import { ON_MYSQL, TESTED } from './tested-server.ts';

// Sequences are MariaDB's alone; from 11.5 on they have types.
const HAS_TYPES = TESTED === 'mariadb-11.8';

let server: MysqlServer;
beforeAll(async () => {
  server = await MysqlServer.start();
});
afterAll(() => server?.stop());
beforeEach(() => server.run(['drop database shop', 'create database shop'], ''));

async function judged(): Promise<SeenJudgement> {
  const check = mysqlChecks.find(({ id }) => id === 'MY_AUTOINC_EXHAUSTION');
  if (!check) throw new Error('There is no such check.');
  return measure(server, check);
}

const made = async (name: string, options: string, value?: string) =>
  server.run([
    `create sequence ${name} ${options}`,
    ...(value === undefined ? [] : [`do setval(${name}, ${value})`]),
    `grant select on ${name} to watcher@localhost`,
  ]);

/** What a person would run after the look: the statement in the steps. */
const altering = (remediation: string) =>
  /run ((?:SET NAMES|ALTER SEQUENCE).*)$/s.exec(remediation)?.[1] ?? '';

test.runIf(ON_MYSQL)('MySQL has no sequences, and its check asks for none', async () => {
  const check = mysqlChecks.find(({ id }) => id === 'MY_AUTOINC_EXHAUSTION');
  const statements = check?.steps?.({ version: 90_700, thresholds: {} }).map((step) => step([{ tables: 1 }]));
  expect(String(statements)).not.toContain('SEQUENCE');
});

test.skipIf(ON_MYSQL).each([
  ['rising', 'maxvalue 1000 nocache', '899', /is at 900 of 1000 \(89 %\); raise its MAXVALUE/, 'warning'],
  ['spent', 'maxvalue 1000 nocache', '1000', /is at 1001 of 1000 \(100 %\)/, 'critical'],
  [
    'falling',
    'start with -1 increment by -1 minvalue -1000 maxvalue -1 nocache',
    '-960',
    /is at -961 of -1000 \(96 %\); lower its MINVALUE/,
    'critical',
  ],
  ['stepping', 'increment by 10 maxvalue 995 nocache', '991', /is at \d+ of 995 \(100 %\)/, 'critical'],
])(
  'a sequence that is %s (%s at %s) is found, and goes on after its remediation',
  async (name, options, value, line, severity) => {
    await made(name, options, value);
    const [fault, ...others] = (await judged()).faults;
    expect(others).toEqual([]);
    expect(fault).toMatchObject({
      severity,
      object: `\`shop\`.\`${name}\``,
      metricLine: expect.stringMatching(line),
    });
    const { remediation = '' } = fault ?? {};
    expectOnPages([['MY_AUTOINC_EXHAUSTION', remediation]]);
    expect(remediation).toMatch(
      /^SELECT \* FROM `shop`.`\w+`; -- then find out why .* (?:NO MAXVALUE|MINVALUE -\d+);$/,
    );
    expect(statementLock('mariadb', remediation)).toMatch(/metadata lock of the sequence/);
    const before = paste(server, `SELECT next_not_cached_value FROM ${quoted('shop', name)};`);
    paste(server, remediation);
    paste(server, altering(remediation));
    expect(paste(server, `SELECT NEXTVAL(${quoted('shop', name)});`)).toBe(before);
    expect((await judged()).faults).toEqual([]);
  },
);

test.skipIf(ON_MYSQL)('fresh sequences, those with room, and those that cycle are no fault', async () => {
  await made('fresh', 'maxvalue 1000 nocache');
  await made('roomy', '', '9000000000000000');
  await made('zero', 'increment by 0');
  await made('below', 'increment by -1');
  await made('again', 'maxvalue 1000 nocache cycle', '1000');
  const { faults, skipped, measures } = await judged();
  expect({ faults, skipped }).toEqual({ faults: [] });
  expect(measures?.map(({ object }) => object)).not.toContain('`shop`.`again`');
});

test.skipIf(ON_MYSQL).each([
  ['int', 'nextval(numbers)', '', '2100000000', '2147483647', /97 %/],
  ['smallint unsigned', 'next value for numbers', '', '60000', '65535', /91 %/],
  ['tinyint', 'nextval(numbers)', 'start with -1 increment by -1', '-120', '-128', /93 %/],
])(
  'a column of type %s that ends before its sequence is found',
  async (type, value, options, at, last, share) => {
    await made('numbers', `${options} nocache`, at);
    await server.run([
      `create table \`ord\`\`ers\` (number ${type} not null default (${value}), wide bigint default (${value}), note varchar(40) default (concat('n', ${value})))`,
      'create table others (number int)',
    ]);
    const [fault, ...others] = (await judged()).faults;
    expect([fault?.object, others]).toEqual(['`shop`.`numbers`', []]);
    expect(fault?.metricLine).toMatch(share);
    expect(fault?.metricLine).toContain(` of ${last} (`);
    expect(fault?.metricLine).toMatch(
      /; its column `number` of table `shop`.`ord``ers` \((?:int|smallint|tinyint)/,
    );
    expect(fault?.remediation).toMatch(
      /^SHOW CREATE TABLE `shop`.`ord``ers`; -- then make the column bigint/,
    );
    paste(server, fault?.remediation ?? '');
    await server.run(`alter table \`ord\`\`ers\` modify number bigint not null default (${value})`);
    expect((await judged()).faults).toEqual([]);
  },
);

test.skipIf(ON_MYSQL)(
  'values of a cache count, because a restart discards them, and the finding says so',
  async () => {
    await made('cached', 'maxvalue 100');
    expect((await judged()).faults).toEqual([]);
    await server.run('do nextval(cached)');
    const [fault] = (await judged()).faults;
    expect(fault?.metricLine).toMatch(/of 100 \(100 %\), with its cache of 1000, whose rest a restart/);
    await server.restart();
    await expect(server.run('select nextval(cached)')).rejects.toThrow('run out');
    paste(server, altering(fault?.remediation ?? ''));
    await server.run('select nextval(cached)');
  },
);

test.skipIf(ON_MYSQL)('a bigint sequence that is used up has no wider type', async () => {
  await made('full', 'nocache', '9223372036854775000');
  const [fault] = (await judged()).faults;
  expect(fault?.metricLine).toMatch(/\(99 %\); find out why its values jumped/);
  expect(fault?.remediation).toMatch(/^SELECT \* FROM `shop`.`full`; -- then find out why/);
});

test.runIf(HAS_TYPES).each([
  ['tinyint', '120', 'bigint'],
  ['smallint unsigned', '64000', 'bigint unsigned'],
  ['int', '2100000000', 'bigint'],
])('a sequence of type %s is widened', async (type, value, wider) => {
  await made('typed', `as ${type} nocache`, value);
  const [fault] = (await judged()).faults;
  expect(fault?.metricLine).toContain('make it a bigint');
  expect(altering(fault?.remediation ?? '')).toBe(
    `ALTER SEQUENCE \`shop\`.\`typed\` AS ${wider}; ALTER SEQUENCE \`shop\`.\`typed\` NO MAXVALUE;`,
  );
  paste(server, altering(fault?.remediation ?? ''));
  expect((await judged()).faults).toEqual([]);
  expect(paste(server, 'SELECT NEXTVAL(`shop`.`typed`);').trim()).toBe(String(Number(value) + 1));
});

const HOSTILE = `s\`'"\\;-- #/*%s\t\n\u202e\u00a0日`.padEnd(64, 'x');

test.skipIf(ON_MYSQL).each(['', 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'])(
  'statements about a sequence of a hostile name hit it alone: sql_mode %s',
  async (mode) => {
    const decoy = HOSTILE.replace('\t', ' ');
    for (const name of [HOSTILE, decoy]) await made(quoted(name), 'maxvalue 1000 nocache', '960');
    await server.run(`revoke select on ${quoted(HOSTILE)} from watcher@localhost`);
    const hidden = await judged();
    expect(hidden.faults.map(({ object }) => object)).toEqual([quoted('shop', decoy)]);
    expect(hidden.truncated).toBe(true);
    paste(server, `SET sql_mode = '${mode}'; ${hidden.grant}`);
    const all = await judged();
    const fault = all.faults.find(({ object }) => object === quoted('shop', HOSTILE));
    expect([all.faults.length, all.grant]).toEqual([2, undefined]);
    paste(server, `SET sql_mode = '${mode}'; ${fault?.remediation}`);
    paste(server, `SET sql_mode = '${mode}'; ${altering(fault?.remediation ?? '')}`);
    expect((await judged()).faults.map(({ object }) => object)).toEqual([quoted('shop', decoy)]);
  },
);

test.skipIf(ON_MYSQL)(
  'sequences that the login may not read are never "ok"; a role helps too, and gives no value',
  async () => {
    await server.run(['create sequence a', 'create sequence b']);
    const { skipped, grant } = await judged();
    expect(skipped).toMatch(/^Not measured: the values of some sequences are hidden\./);
    expect(grant).toBe(
      "GRANT SELECT ON `shop`.`a` TO 'watcher'@'localhost'; GRANT SELECT ON `shop`.`b` TO 'watcher'@'localhost';",
    );
    await server.run([
      'create role if not exists readers',
      'grant select on shop.* to readers',
      'grant readers to watcher@localhost',
      'set default role readers for watcher@localhost',
    ]);
    expect(await judged()).toMatchObject({ faults: [], truncated: false });
    const session = await server.open('watcher', '');
    await expect(session.query('select nextval(shop.a)')).rejects.toThrow('denied');
    await session.end();
    await server.run(['set default role none for watcher@localhost', 'drop role readers']);
    expect((await judged()).grant).toBe(grant);
  },
);

test.skipIf(ON_MYSQL)(
  'of more than 500 sequences the check is incomplete',
  async () => {
    await server.run('grant select on shop.* to watcher@localhost');
    await server.run(Array.from({ length: 501 }, (_, n) => `create sequence s${n}`));
    expect(await judged()).toMatchObject({ faults: [], truncated: true, skippedForSize: true });
    await server.run('drop sequence s0');
    expect(await judged()).toMatchObject({ faults: [], truncated: false });
    await server.run('revoke select on shop.* from watcher@localhost');
  },
  60_000,
);
