import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { minorOutdatedBy } from '../../src/checks/postgres/minor-outdated.ts';
import { postgresChecks } from '../../src/checks/postgres/postgres-checks.ts';
import { measure as measureTarget } from '../../src/monitor/measure.ts';
import type { SeenJudgement } from '../support/seen-judgement.ts';
import { measure } from './measure.ts';
import { expectPlain } from './pasted/plain-remediations.ts';
import { type Login, PASSWORD, PostgresServer, toTarget } from './postgres-server.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

async function judged(
  id: string,
  login: Login = 'watcher',
  check = postgresChecks.find((each) => each.id === id),
  database = server.database,
): Promise<SeenJudgement> {
  if (!check) throw new Error(`There is no check ${id}.`);
  const client = await server.open(login, database);
  try {
    return await measure(client, check);
  } finally {
    await client.end();
  }
}

async function versionNumber(): Promise<number> {
  const [row = {}] = await server.run(`select current_setting('server_version_num')::int as version`);
  return Number(row['version']);
}

test('PG_MINOR_OUTDATED: behind, at and beyond the latest minor version, and not in the table', async () => {
  const version = await versionNumber();
  const [major, minor] = [Math.floor(version / 10_000), version % 10_000];
  const faults = async (latest: [number, number]) =>
    (
      await judged(
        'PG_MINOR_OUTDATED',
        'stranger',
        minorOutdatedBy({ latest: new Map([latest]), asOf: '2026-11-12' }),
      )
    ).faults;
  const behind = await faults([major, minor + 1]);
  expectPlain('PG_MINOR_OUTDATED', behind[0]?.remediation ?? '');
  expect(behind).toMatchObject([
    {
      severity: 'warning',
      object: null,
      // Debian adds the version of its package.
      metricLine: expect.stringMatching(
        `^PostgreSQL ${major}\\.${minor}(?: \\(Debian .*\\))? lacks the fixes of 1 minor release, up to ${major}\\.${minor + 1};`,
      ),
    },
  ]);
  expect(await faults([major, minor])).toEqual([]);
  expect(await faults([major, minor - 1])).toEqual([]);
  expect(await faults([major - 1, minor + 1])).toEqual([]);
});

test('hidden settings and sessions are never "ok": the exact GRANT is named, and it helps', async () => {
  for (const id of ['PG_PENDING_RESTART', 'PG_NO_TLS']) {
    const { skipped, grant } = await judged(id, 'stranger');
    expect(grant, id).toBe('GRANT pg_monitor TO stranger;');
    expect(skipped, id).toContain(grant);
    await server.run(grant ?? '');
    expect((await judged(id, 'stranger')).skipped, id).toBeUndefined();
    await server.run('revoke pg_monitor from stranger');
  }
});

test('PG_PENDING_RESTART: visible settings are found, and hidden ones are never "ok"', async () => {
  await server.run(`ALTER SYSTEM SET max_locks_per_transaction = 65; SELECT pg_reload_conf()`);
  await server.run(`ALTER SYSTEM SET shared_preload_libraries = 'auto_explain'; SELECT pg_reload_conf()`);
  await server.until('select count(*) = 2 from pg_settings where pending_restart');
  const [whole, part] = [await judged('PG_PENDING_RESTART'), await judged('PG_PENDING_RESTART', 'stranger')];
  expect([whole.faults.map(({ object }) => object), whole.truncated]).toEqual([
    ['max_locks_per_transaction', 'shared_preload_libraries'],
    false,
  ]);
  expect([part.faults.map(({ object }) => object), part.truncated]).toEqual([
    ['max_locks_per_transaction'],
    true,
  ]);
  await server.run('ALTER SYSTEM RESET ALL');
  await server.restart();
  expect((await judged('PG_PENDING_RESTART')).faults).toEqual([]);
});

test('PG_NO_TLS counts sessions from the network by role, application and database, without loopback', async () => {
  const host = await server.restartOnNetwork();
  const { port, database } = server;
  const sessions = [host, host, '127.0.0.1'].map(
    (each) => new pg.Client({ host: each, port, database, user: 'app', password: PASSWORD }),
  );
  await Promise.all(sessions.map((session) => session.connect()));
  expect((await judged('PG_NO_TLS')).faults).toMatchObject([
    {
      object: 'shop/app/""',
      metricLine:
        'Role app, application "", database shop: 2 sessions from other machines without TLS; require it.',
      remediation: expect.stringMatching(
        /^SELECT name, setting .* -- then give .* ALTER SYSTEM SET ssl = on; /,
      ),
    },
  ]);
  await Promise.all(sessions.map((session) => session.end()));
  await server.restart();
});

test('PG_NO_TLS is silent about sessions with TLS', async () => {
  const host = await server.restartOnNetwork({ ssl: 'on' });
  const { port, database } = server;
  const login = { host, port, database, user: 'app', password: PASSWORD };
  const secure = new pg.Client({ ...login, ssl: { rejectUnauthorized: false } });
  await secure.connect();
  expect((await judged('PG_NO_TLS')).faults).toEqual([]);
  const plain = new pg.Client({ ...login, application_name: 'plain' });
  await plain.connect();
  expect((await judged('PG_NO_TLS')).faults).toMatchObject([
    {
      object: 'shop/app/plain',
      remediation: expect.stringMatching(/^SELECT name, setting .* -- then change /),
    },
  ]);
  await Promise.all([secure.end(), plain.end()]);
  await server.restart();
});

test.each([
  [`now() + interval '6 days 23:59'`, /expires in 6 d 23 h/, 'warning'],
  [`now() + interval '1 day 1 min'`, /expires in 1 d 0 h/, 'warning'],
  [`now() + interval '23:59'`, /expires in 23 h 5\d min/, 'critical'],
  [`now() + interval '7 days 1 min'`, undefined],
  [`now() - interval '1 day 1 min'`, /expired 1 d 0 h ago/, 'critical'],
  [`now() - interval '8 days'`, undefined],
  [`'infinity'`, undefined],
  [`'-infinity'`, undefined],
])('PG_PASSWORD_EXPIRING: valid until %s', async (until, said, severity = 'warning') => {
  await server.run(`do $$ begin execute format('alter role app valid until %L', ${until}); end $$`);
  const { faults } = await judged('PG_PASSWORD_EXPIRING', 'stranger');
  if (said)
    expect(faults).toMatchObject([{ severity, object: 'app', metricLine: expect.stringMatching(said) }]);
  else expect(faults).toEqual([]);
  await server.run(`alter role app valid until 'infinity'`);
});

test('PG_PASSWORD_EXPIRING: a role without LOGIN is ignored', async () => {
  await server.run(`create role team valid until '2020-01-01'`);
  await server.run(
    `do $$ begin execute format('alter role team valid until %L', now() + interval '1 day'); end $$`,
  );
  expect((await judged('PG_PASSWORD_EXPIRING')).faults).toEqual([]);
  await server.run('drop role team');
});

test('PG_INVALID_CONSTRAINT: a NOT ENFORCED constraint is ignored', async () => {
  const version = await versionNumber();
  const made = server.run('create table t (a int, constraint c check (a > 0) not enforced)');
  if (version < 180_000) return expect(made).rejects.toThrow('syntax error');
  await made;
  expect((await judged('PG_INVALID_CONSTRAINT')).faults).toEqual([]);
  await server.run('alter table t add constraint d not null a not valid');
  expect((await judged('PG_INVALID_CONSTRAINT')).faults).toMatchObject([{ object: 'public.t.d' }]);
  await server.run('drop table t');
});

test('PG_SUBSCRIPTION_STOPPED: one without a slot, as a dump restores it, is told to get one before it is enabled', async () => {
  await server.run(
    `create subscription dumped connection 'host=/nowhere dbname=shop' publication p with (connect = false, slot_name = none)`,
  );
  const [fault] = (await judged('PG_SUBSCRIPTION_STOPPED')).faults;
  expect(fault?.remediation).toMatch(
    /; it has no slot: .*\(ALTER SUBSCRIPTION dumped SET \(slot_name = …\)\).* Then, .* run ALTER SUBSCRIPTION dumped ENABLE;$/,
  );
  await expect(server.run('alter subscription dumped enable')).rejects.toThrow('slot');
  await server.run('drop subscription dumped');
});

test('PG_COLLATION_VERSION: a collation that only a key of partitions or a range type uses', async () => {
  await server.run(`create collation of_key (provider = icu, locale = 'de')`);
  await server.run(`create collation of_range (provider = icu, locale = 'sv')`);
  await server.run('create table parts (word text) partition by range (word collate of_key)');
  await server.run('create type words as range (subtype = text, collation = of_range)');
  await server.run(`update pg_collation set collversion = '1' where collname like 'of\\_%'`);
  const { faults } = await judged('PG_COLLATION_VERSION');
  expect(faults.map(({ object }) => object)).toEqual(['public.of_key', 'public.of_range']);
  await server.run('drop table parts');
  await server.run('drop type words');
  expect((await judged('PG_COLLATION_VERSION')).faults).toEqual([]);
});

test('PG_COLLATION_VERSION: databases that no run enters are reported by the first one', async () => {
  if ((await versionNumber()) < 150_000) return;
  const sorted = `template template0 encoding 'UTF8' locale_provider icu icu_locale 'de'`;
  await server.run(`create database closed ${sorted} allow_connections false`);
  await server.run(`create database "Our template" ${sorted} is_template true`);
  await server.run(`update pg_database set datcollversion = '1' where datname in ('closed', 'Our template')`);
  const copy = () => server.run('create database copied template "Our template"');
  await expect(copy()).rejects.toThrow('collation version mismatch');
  expect((await judged('PG_COLLATION_VERSION')).faults).toEqual([]);
  const inFirst = () => judged('PG_COLLATION_VERSION', 'watcher', undefined, 'postgres');
  const { faults } = await inFirst();
  expect(faults.map(({ object }) => object)).toEqual(['"Our template"', 'closed']);
  expect(faults[0]?.metricLine).toContain('CREATE DATABASE refuses to copy it');
  expect(faults[1]?.remediation).toContain('run ALTER DATABASE closed ALLOW_CONNECTIONS true;');
  for (const { remediation } of faults) {
    expectPlain('PG_COLLATION_VERSION', remediation);
    await server.run(
      /ALTER DATABASE \S+(?: template")? REFRESH COLLATION VERSION;/.exec(remediation)?.[0] ?? '',
    );
  }
  expect((await inFirst()).faults).toEqual([]);
  await copy();
  await server.run('alter database "Our template" is_template false');
  for (const name of ['copied', 'closed', '"Our template"']) await server.run(`drop database ${name}`);
});

test('PG_DATABASE_LEFT_OUT: a database whose limit is 0 is closed on purpose, and costs no check', async () => {
  await server.run('create database closed connection limit 0');
  const run = async (login: Login) => {
    const { outcomes } = await measureTarget(toTarget(server, login), {
      allowPrivateTargets: true,
      thresholds: {},
      signal: AbortSignal.timeout(60_000),
    });
    return outcomes.flatMap(({ findings }) => findings);
  };
  const findings = await run('watcher');
  expect(findings.filter(({ status }) => status === 'error')).toEqual([]);
  const leftOut = findings.find(({ check_id }) => check_id === 'PG_DATABASE_LEFT_OUT');
  expect(leftOut?.metric_line).toContain('1 database, so nothing there is measured: closed.');
  const [look = ''] = leftOut?.remediation.split(' -- ') ?? [];
  expect(await server.run(look)).toEqual([{ datname: 'closed', datconnlimit: 0 }]);
  // A superuser is let in.
  const all = await run('postgres');
  expect(all.find(({ check_id }) => check_id === 'PG_DATABASE_LEFT_OUT')?.status).toBe('ok');
  expect(all.filter(({ status }) => status === 'error')).toEqual([]);
  await server.run('drop database closed');
});

test("settings of the monitor's own role say nothing of the server", async () => {
  await server.run('create function seen() returns event_trigger language plpgsql as $$ begin end $$');
  await server.run('create event trigger seen on ddl_command_end execute function seen()');
  await server.run('create table counted (a int)');
  const judgedAll = async () => {
    const instructions = { allowPrivateTargets: true, thresholds: {}, signal: AbortSignal.timeout(60_000) };
    const { outcomes } = await measureTarget(toTarget(server), instructions);
    return outcomes
      .flatMap(({ findings }) => findings)
      .map(
        ({ check_id, status, metric_line }) =>
          `${check_id} ${status} ${status === 'ok' ? '' : metric_line.replace(/\d+ s\b/, '')}`,
      )
      .sort();
  };
  const before = await judgedAll();
  const settings = ['pg_stat_statements.track = none', 'track_counts = off', 'compute_query_id = off'];
  if ((await versionNumber()) >= 170_000) settings.push('event_triggers = off');
  for (const setting of settings) await server.run(`alter role watcher set ${setting}`);
  expect(await judgedAll()).toEqual(before);
  // They hide what was set for the database, or for all roles, in any spelling.
  const own = ['off', 'on'];
  for (const [scope, off] of [
    ['database shop', 'FALSE'],
    ['role all', 'off'],
  ])
    for (const value of own) {
      await server.run(`alter role watcher set track_counts = ${value}`);
      await server.run(`alter ${scope} set track_counts = '${off}'`);
      expect((await judged('PG_AUTOVACUUM_OFF')).faults, `${scope}, ${value}`).toMatchObject([
        { object: 'track_counts' },
      ]);
      await server.run(`alter ${scope} reset track_counts`);
      expect((await judged('PG_AUTOVACUUM_OFF')).faults).toEqual([]);
    }
  await server.run("alter database shop set pg_stat_statements.track = 'none'");
  expect((await judgedAll()).filter((line) => !before.includes(line)).join()).toMatch(/pg_stat_statements/);
  await server.run('alter database shop reset all');
  await server.run('alter role watcher reset all');
  await server.run('alter database shop set pg_stat_statements.track = none');
  expect(await judgedAll()).not.toEqual(before);
  await server.run('alter database shop reset all');
  await server.run('drop event trigger seen');
  await server.run('drop table counted');
});

test("track_counts that the server has off is found behind a value of the monitor's role or database", async () => {
  await server.run('create table counted (a int)');
  const launchers = async (count: number) => {
    const seen = async () => {
      await server.run('select pg_reload_conf()');
      const [row] = await server.run(
        "select count(*)::int as launchers from pg_stat_activity where backend_type = 'autovacuum launcher'",
      );
      return row?.['launchers'];
    };
    await expect.poll(seen, { interval: 200 }).toBe(count);
  };
  const unmeasured = async (id: string) => (await judged(id)).skipped ?? 'measured';
  for (const scope of ['role watcher', 'database shop', 'role all']) {
    await server.run(`alter ${scope} set track_counts = on`);
    expect((await judged('PG_AUTOVACUUM_OFF')).faults, scope).toEqual([]);
    await server.run('alter system set track_counts = off');
    await launchers(0);
    const [fault, ...others] = (await judged('PG_AUTOVACUUM_OFF')).faults;
    expect([fault?.object, others], scope).toEqual(['track_counts', []]);
    if (scope === 'role watcher') expect(await unmeasured('PG_DEAD_TUPLES')).toMatch(/track_counts/);

    // Without pg_monitor the launcher is not seen.
    await server.run(`alter role stranger set track_counts = on`);
    const blind = await judged('PG_AUTOVACUUM_OFF', 'stranger');
    expect(blind.skipped).toMatch(/^Not measured: .* hides the server's track_counts/);
    expect(blind.grant).toBe('GRANT pg_monitor TO stranger;');
    await server.run('alter system set autovacuum = off; SELECT pg_reload_conf()');
    await server.until(`select setting = 'off' from pg_settings where name = 'autovacuum'`);
    const both = await judged('PG_AUTOVACUUM_OFF');
    expect([both.faults.map(({ object }) => object), both.truncated]).toEqual([['autovacuum'], true]);
    await server.run('alter system reset autovacuum; SELECT pg_reload_conf()');
    await server.run('alter role stranger reset track_counts');

    await server.run(fault?.remediation ?? '');
    await launchers(1);
    expect((await judged('PG_AUTOVACUUM_OFF')).faults, scope).toEqual([]);
    await server.run(`alter ${scope} reset track_counts`);
  }
  await server.run('alter system reset all');
  await server.run('select pg_reload_conf()');
  await server.run('drop table counted');
});

test('PG_EVENT_TRIGGER_DISABLED: a setting that turns all of them off is one fault', async () => {
  if ((await versionNumber()) < 170_000) return;
  await server.run('create function noted() returns event_trigger language plpgsql as $$ begin end $$');
  await server.run('alter database shop set event_triggers = off');
  expect((await judged('PG_EVENT_TRIGGER_DISABLED')).faults).toEqual([]);
  await server.run('create event trigger notes on ddl_command_end execute function noted()');
  const [fault, ...others] = (await judged('PG_EVENT_TRIGGER_DISABLED')).faults;
  expect([fault?.object, others]).toEqual(['event_triggers', []]);
  expect(fault?.remediation).toMatch(/^SELECT setting, source, /);
  await server.run('alter database shop reset event_triggers');
  expect((await judged('PG_EVENT_TRIGGER_DISABLED')).faults).toEqual([]);
  await server.run('drop event trigger notes');
});

test('PG_ARCHIVER_FAILING: a command that hangs or is empty counts no failure, and is found', async () => {
  const check = postgresChecks.find(({ id }) => id === 'PG_ARCHIVER_FAILING');
  if (!check) throw new Error('There is no such check.');
  const write = async (files: number) => {
    for (let n = 0; n < files; n++) {
      await server.run('create table archived ()');
      await server.run('drop table archived');
      await server.run('select pg_switch_wal()');
    }
  };
  await server.run('alter system set archive_mode = on');
  await server.restart();
  const [empty] = (await judged(check.id)).faults;
  expect([empty?.severity, empty?.metricLine]).toEqual([
    'critical',
    expect.stringMatching(/^archive_mode is on, but archive_command is empty/),
  ]);
  // The command does not end as long as this file is there, which the server sees in its own folder.
  const hang = join(server.host, 'hang');
  const command = 'while test -e hang; do /bin/sleep 0.1; done';
  await server.configure(
    `ALTER SYSTEM SET archive_command = '${command}'; SELECT pg_reload_conf()`,
    'archive_command',
    command,
  );
  await write(1);
  await server.until('select archived_count > 0 from pg_stat_archiver');
  writeFileSync(hang, '');
  await write(8);
  // An archiver that is slow for a moment is none that hangs.
  expect((await judged(check.id)).faults).toEqual([]);
  // As if the first file had waited for so long, with one success before it, and with none.
  const folder = join(server.host, 'pg_wal', 'archive_status');
  const age = (seconds: number) => {
    const at = Date.now() / 1_000 - seconds;
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.ready')))
      utimesSync(join(folder, name), at, at);
  };
  age(3_600);
  expect((await judged(check.id)).faults).toEqual([]);
  await server.run(`select pg_stat_reset_shared('archiver')`);
  await server.settle();
  age(290);
  expect((await judged(check.id)).faults).toEqual([]);
  age(305);
  const [stuck] = (await judged(check.id)).faults;
  expect(stuck?.metricLine).toMatch(
    /^Archiving neither succeeds nor fails: none was ever archived, and \d+ MB of WAL wait, the oldest for 5 min;/,
  );
  // It may not look at what waits.
  expect((await judged(check.id, 'stranger')).faults).toEqual([]);
  rmSync(hang);
  await server.until('select archived_count >= 8 from pg_stat_archiver');
  expect((await judged(check.id)).faults).toEqual([]);
  await server.run('alter system reset all');
  await server.restart();
});
