import mysql from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Row } from '../../../src/checks/fault.ts';
import { quoted } from '../../../src/checks/mysql/quote.ts';
import { cleanText, isPrintable } from '../../../src/platform/text/clean-text.ts';
import { waitFor } from '../../support/wait-for.ts';
import { MysqlServer, PASSWORD } from '../mysql-server.ts';
import { paste } from '../paste.ts';
import { replication } from '../replication-sql.ts';
import { dialect, ON_MYSQL } from '../tested-server.ts';
import { faultsOf, type Judged } from './judged.ts';

/** Names of accounts have at most 32 characters. */
const NAMES = [
  'plain',
  "o'ne",
  'q"uote',
  'tick`',
  'back\\slash',
  'end\\',
  'semi; colon -- x',
  'a/*b',
  'a\nb',
  'a\tb',
  'a\rb',
  'a\u202eb',
  'a\u2028b',
  '\ufeffab',
  'a\u00adb',
  'ä'.repeat(32),
  '%s$&$$',
  '日'.repeat(32),
];

let server: MysqlServer;
beforeAll(async () => {
  server = await MysqlServer.start();
});
afterAll(() => server?.stop());

/** A session of any account, in the database `shop` if the account may use it. */
async function loginAs(user: string, password: string, database = ''): Promise<mysql.Connection> {
  return mysql.createConnection({ socketPath: server.socket, user, password, database });
}

/** What MySQL and MariaDB keep of accounts, without the named one. */
async function others(user: string): Promise<string> {
  const rows = await server.run(
    dialect({
      mysql: 'select * from mysql.user order by user, host',
      mariadb: 'select * from mysql.global_priv order by user, host',
    }),
  );
  return JSON.stringify(rows.filter((row) => row['User'] !== user));
}

async function remediationFor(check: string, object: string | null, given?: Judged): Promise<string> {
  const faults = await faultsOf(server, check, given);
  const remediation = faults.find((fault) => fault.object === object)?.remediation ?? '';
  expect([remediation, isPrintable(remediation)]).toEqual([expect.stringMatching(/./), true]);
  expect(remediation.length).toBeLessThan(4_000);
  return remediation;
}

test.each(NAMES)('an account %j gets a password that works, and no other account changes', async (user) => {
  const account = `${quoted(user)}@\`localhost\``;
  const lookalike = cleanText(user, 32);
  await server.run(`create user ${account}`);
  if (lookalike !== user)
    await server.run(`create user ${quoted(lookalike)}@localhost identified by '${PASSWORD}'`);
  const before = await others(user);
  const printed = paste(server, await remediationFor('MY_EMPTY_PASSWORD', account));
  // MySQL prints user, host, password and factor, MariaDB the password.
  const password = ON_MYSQL ? printed.trimEnd().split('\t').at(-2) : printed.trimEnd();
  await (await loginAs(user, password ?? '')).end();
  expect((await faultsOf(server, 'MY_EMPTY_PASSWORD')).map(({ object }) => object)).not.toContain(account);
  expect(await others(user)).toBe(before);
  await server.run(`drop user ${account}`);
  if (lookalike !== user) await server.run(`drop user ${quoted(lookalike)}@localhost`);
});

test('the only administrator is never locked, and another one can be', async () => {
  await server.run(`create user root@'10.%' identified by '${PASSWORD}'`);
  await server.run("grant all on *.* to root@'10.%' with grant option");
  const object = '`root`@`10.%`';
  const [keep, back] = dialect({
    mysql: ['alter user root@localhost account lock', 'alter user root@localhost account unlock'],
    mariadb: ['alter user current_user() account lock', 'alter user current_user() account unlock'],
  });
  const session = await server.open('root', '');
  await session.query(String(keep));
  const alone = await remediationFor('MY_ROOT_REMOTE', object);
  await session.query(String(back));
  await session.end();
  expect(alone).not.toMatch(/account lock/i);
  expect(alone).toMatch(/^SHOW GRANTS FOR `root`@`10\.%`; -- no other administrator/);
  paste(server, alone);
  const shared = await remediationFor('MY_ROOT_REMOTE', object);
  expect(shared).toMatch(/^ALTER USER `root`@`10\.%` ACCOUNT LOCK;/);
  paste(server, shared);
  expect(await faultsOf(server, 'MY_ROOT_REMOTE')).toEqual([]);
});

const BEHIND = replication.behind;
const THREADS = dialect({ mysql: 'replica_parallel_workers', mariadb: 'slave_parallel_threads' });

/** MariaDB sets the number of threads only while none applies. */
const singleThreaded = (name: string) =>
  dialect({
    mysql: [`set global ${THREADS} = 1`],
    mariadb: [replication.stop(name), `set global ${THREADS} = 0`, replication.start(name)],
  });

/** Whether each replication applies what it gets. */
async function appliers(): Promise<Record<string, unknown>> {
  const rows = await server.run(dialect({ mysql: 'show replica status', mariadb: 'show all slaves status' }));
  const [name, running] = dialect({
    mysql: ['Channel_Name', 'Replica_SQL_Running'],
    mariadb: ['Connection_name', 'Slave_SQL_Running'],
  });
  return Object.fromEntries(rows.map((row) => [String(row[name]), row[running]]));
}

test.each(['north', "o'ne", 'back\\slash', 'a\tb', 'a\u202eb', 'q"uote'])(
  'a replication %j is started, and gets more threads, and no other one',
  async (name) => {
    const text = name.replaceAll('\\', '\\\\').replaceAll("'", "''");
    // Nothing listens there.
    await server.run([text, 'bystander'].map((each, n) => replication.copyFrom(each, String(n + 1), 'none')));
    // Writable, it might be a primary: only a look is printed, and the statements after it are for the right one.
    const steps = await remediationFor('MY_REPLICA_STOPPED', quoted(name));
    expect(steps).toMatch(/^SHOW .* -- find out first/);
    const [, remove = '', start = ''] = /If so: (.*) If it is a replica: .* run (.*)$/.exec(steps) ?? [];
    paste(server, remove);
    expect(Object.keys(await appliers())).toEqual(['bystander']);
    await server.run(replication.copyFrom(text, '1', 'none'));
    paste(server, start);
    await server.run('set global read_only = on');
    const lines = async () =>
      (await faultsOf(server, 'MY_REPLICA_STOPPED')).map(({ metricLine }) => metricLine);
    await waitFor(async () => expect((await lines()).join()).toContain('error 2003'));
    const again = await remediationFor('MY_REPLICA_STOPPED', quoted(name));
    expect(again).toMatch(/^SHOW /);
    paste(server, again);
    expect(await appliers()).toEqual({ [name]: 'Yes', bystander: 'No' });

    await server.run(singleThreaded(text));
    const late = (row: Row) => (BEHIND in row ? { ...row, [BEHIND]: 100, SQL_Remaining_Delay: null } : row);
    paste(server, await remediationFor('MY_REPLICA_LAG', quoted(name), { row: late }));
    expect(await server.run(`select @@global.${THREADS} as threads`)).toEqual([{ threads: 4 }]);
    expect(await appliers()).toEqual({ [name]: 'Yes', bystander: 'No' });
    await server.run([
      'set global read_only = off',
      ...[text, 'bystander'].flatMap((each) => replication.forget(each)),
    ]);
  },
);

test('a session is found by its exact user and database', async () => {
  for (const user of ['App', "o'ne"]) {
    await server.run(`create user ${quoted(user)}@localhost identified by '${PASSWORD}'`);
    await server.run(`grant all on *.* to ${quoted(user)}@localhost`);
    const [exact, lookalike] = [await loginAs(user, PASSWORD, 'shop'), await server.open('app')];
    for (const session of [exact, lookalike]) {
      await session.query('start transaction');
      await session.query('select * from information_schema.tables limit 1');
      await session.query('create temporary table if not exists t (id int) engine = innodb');
      await session.query('insert into t values (1)');
    }
    const thresholds = { warning_seconds: 1, critical_seconds: 9_999 };
    const remediation = await waitFor(
      async () => {
        const faults = await faultsOf(server, 'MY_LONG_TRX', { thresholds });
        const shown = user === 'App' ? 'shop/App' : `\`shop/${user}\``;
        const found = faults.find(({ object }) => object === shown);
        if (!found) throw new Error(`No fault of shop/${user} in ${JSON.stringify(faults)}`);
        return found.remediation;
      },
      // The contents of innodb_trx do not change while it is read every 0.1 s.
      { interval: 250 },
    );
    const ids = paste(server, remediation).trimEnd().split('\n');
    expect(ids.map((line) => line.split('\t')[0])).toEqual([`KILL ${exact.threadId};`]);
    await Promise.all([exact, lookalike].map((session) => session.end()));
    await server.run(`drop user ${quoted(user)}@localhost`);
  }
});
