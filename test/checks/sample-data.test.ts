import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addAccount } from '../../src/accounts/add-account.ts';
import { addKey } from '../../src/accounts/keys/add-key.ts';
import { changeAccount } from '../../src/activity/record-entry.ts';
import { everyCheck } from '../../src/checks/catalogue.ts';
import { score, summaryText } from '../../src/checks/score.ts';
import type { Catalogue } from '../../src/cli/command.ts';
import { sampleOwnCheck } from '../../src/cli/sample-data/own-check/sample-own-check.ts';
import { writeSampleData } from '../../src/cli/sample-data/sample-data.ts';
import { secondsToTimestamp } from '../../src/cli/sample-data/sample-target.ts';
import { openPool } from '../../src/store/connect.ts';
import { type Engine, isForeignCheck } from '../../src/vocabulary/engines.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { expectWholeStore } from './whole-store.ts';

const catalogue: Catalogue = {
  checks: everyCheck,
  score: (outcomes) => score(outcomes, []),
  summaryText,
};
const size = { connections: 4, tickets: 60, activity: 1_500, days: 10 };

let store: TestStore;
let owner: pg.Pool;
beforeAll(async () => {
  store = await startTestStore();
  const { host, port, user = '', password = '', database } = await store.superuser('store');
  owner = openPool([{ host, port, user, password, database: database ?? 'store' }], 'owner', { max: 1 });
});
afterAll(async () => {
  await owner.end();
  await store.stop();
});

async function newAccount(): Promise<number> {
  const plan = { name: 'Sample', kind: 'company', plan: 'enterprise', requests_per_minute: null } as const;
  return (await addAccount(store.writer, plan)).id;
}

function fill(accountId: number, seed = 7) {
  return writeSampleData(store.writer, owner, catalogue, { ...size, accountId, seed, secret: null });
}

async function rowsOf(sql: string, accountId: number): Promise<Record<string, unknown>[]> {
  return (await store.writer.query(sql, [accountId])).rows;
}

test('a fresh account gets a history of the given number of days, with a complete log', async () => {
  const account = await newAccount();
  await changeAccount(store.writer, account, (change) => addKey(change, { name: 'mine', lifetime: null }));
  const counts = await fill(account);
  expect(counts).toEqual({ connections: 4, health_checks: 160, tickets: 60, activity: 1_500 });
  for (const [table, rows] of Object.entries({
    connection: 4,
    health_check: 160,
    ticket: 60,
    activity: 1_503,
  })) {
    expect(await rowsOf(`select count(*) from ${table} where account_id = $1`, account)).toEqual([
      { count: rows },
    ]);
  }
  await expectWholeStore(store.writer, account);
  expect(
    await rowsOf(
      `select max(occurred_at) <= now() as past, max(occurred_at) - min(occurred_at) > interval '9.9 days' as long,
              count(distinct date_trunc('day', occurred_at)) >= 10 as daily
         from activity where account_id = $1`,
      account,
    ),
  ).toEqual([{ past: true, long: true, daily: true }]);
  expect(await rowsOf('select from connection_schedule where account_id = $1', account)).toEqual([]);
});

test('the queries of two weeks are listed, with their texts, and the last hour is not in the future', async () => {
  const account = await newAccount();
  await fill(account);
  const rows = await rowsOf(
    `select c.engine, count(*)::int as hours, min(cardinality(h.query)) as least, max(cardinality(h.query)) as most,
            max(h.hour) <= now() as past, bool_and(h.all_seconds > h.seconds[1] and h.seconds[1] >= h.seconds[2]) as ordered,
            bool_and(h.query[1] ~ case c.engine when 'postgres' then '^-?[0-9]+$' else '^[0-9a-f]{64}$' end) as are_ids
       from query_hour h join connection c using (account_id, connection_id)
      where account_id = $1 group by c.connection_id, c.engine`,
    account,
  );
  expect(rows).toHaveLength(4);
  for (const row of rows) {
    expect(row).toMatchObject({ most: 10, past: true, ordered: true, are_ids: true });
    expect(row['hours']).toBeGreaterThan(9.9 * 24);
  }
  const texts = await rowsOf(
    `select count(distinct text)::int as texts, bool_and(c.query_texts) as are_shown,
            bool_and(exists (select from query_hour h where h.account_id = t.account_id and t.query = any (h.query))) as have_figures,
            bool_and((text ~ '[$]1') = (c.engine = 'postgres')) filter (where text ~ '[$?]') as are_normalized
       from query_text t join connection c using (account_id, connection_id)
      where account_id = $1 group by c.connection_id`,
    account,
  );
  expect(texts).toHaveLength(4);
  for (const row of texts)
    expect(row).toEqual({ texts: 10, are_shown: true, have_figures: true, are_normalized: true });
});

test('each connection has a week of nightly backups, and the last is as old and large as its finding says', async () => {
  const account = await newAccount();
  await fill(account);
  expect(
    await rowsOf(
      `select count(*)::int as backups, count(distinct connection_id)::int as connections, bool_and(succeeded) as well,
              max(at) < now() - interval '6 h 11 min' and max(at) > now() - interval '6 h 20 min' as last,
              max(bytes) as largest, min(c.backup_expected_seconds) as expected
         from backup_report join connection c using (account_id, connection_id) where account_id = $1`,
      account,
    ),
  ).toEqual([
    {
      backups: 28,
      connections: 4,
      well: true,
      last: true,
      largest: Math.round(38.2 * 1024 ** 3),
      expected: 93_600,
    },
  ]);
});

test('runs, tickets and entries are consistent with each other', async () => {
  const account = await newAccount();
  await fill(account);
  const runs = await rowsOf(
    `select score, summary_text, findings,
            exists (select from connection_tags t where t.account_id = h.account_id and t.connection_id = h.connection_id) as tagged,
            (select engine from connection c where c.account_id = h.account_id
                                               and c.connection_id = h.connection_id) as engine,
            (select jsonb_agg(jsonb_build_object('check_id', check_id, 'status', severity) order by severity)
               from ticket t
              where t.account_id = h.account_id and t.connection_id = h.connection_id
                and t.first_seen_at <= h.created_at and coalesce(t.resolved_at > h.created_at, true)) as standing
       from health_check h where account_id = $1 order by health_check_id`,
    account,
  );
  expect(new Set(runs.map(({ engine }) => engine))).toEqual(new Set(['postgres', 'mysql']));
  for (const { score: stored, summary_text, findings, standing, engine, tagged } of runs) {
    const ofEngine = catalogue.checks.filter(({ id }) => !isForeignCheck(engine as Engine, id));
    const checks = tagged ? [...ofEngine, sampleOwnCheck] : ofEngine;
    const list = (findings ?? standing ?? []) as { check_id: string; status: 'ok' | 'critical' }[];
    const outcomes = checks.map((check) => {
      const found = list.filter(({ check_id }) => check_id === check.id);
      return {
        check,
        findings: found.length > 0 ? found : [{ check_id: check.id, status: 'ok' as const }],
        measured: true,
        unmeasured: [],
      };
    });
    expect([stored, summary_text]).toEqual([score(outcomes, []), summaryText(outcomes)]);
    if (findings !== null)
      expect(list.map(({ check_id }) => check_id)).toEqual(
        expect.arrayContaining(checks.map(({ id }) => id)),
      );
    expect(list.filter(({ check_id }) => isForeignCheck(engine as Engine, check_id))).toEqual([]);
  }
  // Findings of the latest run and of seven days are kept. The boundary has a tolerance of a minute.
  expect(
    await rowsOf(
      `select count(*) filter (where age > interval '7 days 1 minute' and findings is not null) as kept,
              count(*) filter (where age < interval '6 days 23 hours 59 minutes' and findings is null) as lost,
              count(*) filter (where findings is null) > 30 as thinned
         from health_check, lateral (select now() - created_at as age)
        where account_id = $1`,
      account,
    ),
  ).toEqual([{ kept: 0, lost: 0, thinned: true }]);
  // The findings of each connection's latest run are its open tickets.
  expect(
    await rowsOf(
      `select c.connection_id, f ->> 'check_id' as check_id, f ->> 'object' as object, f ->> 'severity' as severity
         from connection c
         join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id,
              jsonb_array_elements(h.findings) f
        where c.account_id = $1 and f ->> 'status' <> 'ok'
        order by 1, 2, 3`,
      account,
    ),
  ).toEqual(
    await rowsOf(
      `select connection_id, check_id, object, severity from ticket
        where account_id = $1 and status = 'open' order by 1, 2, 3`,
      account,
    ),
  );
  // The latest run has the highest id, and tickets open and end at runs.
  expect(
    await rowsOf(
      `select count(*) filter (where latest_check_id <> (select max(health_check_id) from health_check h
                                                          where h.connection_id = c.connection_id)) as stale
         from connection c where account_id = $1`,
      account,
    ),
  ).toEqual([{ stale: 0 }]);
  expect(
    await rowsOf(
      `select count(*) filter (where not exists (select from health_check h where h.connection_id = t.connection_id
                                                    and h.created_at = t.first_seen_at)) as unseen,
              count(*) filter (where resolved_at <= last_seen_at or last_seen_at < first_seen_at) as unordered
         from ticket t where account_id = $1`,
      account,
    ),
  ).toEqual([{ unseen: 0, unordered: 0 }]);
  expect(
    await rowsOf(
      `select count(*) as wrong
         from activity a
         left join health_check h on h.account_id = a.account_id
               and h.health_check_id = (a.properties ->> 'health_check_id')::bigint and h.created_at = a.occurred_at
        where a.account_id = $1 and a.action_type = 'health_check_completed'
          and (h.score is null or h.score <> (a.properties ->> 'score')::int)`,
      account,
    ),
  ).toEqual([{ wrong: 0 }]);
});

test('the entries about tickets are found by their ticket', async () => {
  const account = await newAccount();
  await fill(account);
  const [found] = await rowsOf(
    `select count(*) > 0 as some, bool_and(ticket_id is not distinct from (properties ->> 'ticket_id')::bigint) as right
       from activity where account_id = $1 and action_type like 'ticket\\_%'`,
    account,
  );
  expect(found).toEqual({ some: true, right: true });
});

test('sample findings have the format of real findings', async () => {
  const account = await newAccount();
  await fill(account);
  const findings = (
    await rowsOf(
      `select distinct f ->> 'check_id' as check_id, f ->> 'status' as status, f ->> 'metric_line' as line
         from health_check, jsonb_array_elements(findings) f
        where account_id = $1 and findings is not null`,
      account,
    )
  ).map(({ check_id, status, line }) => ({ check_id, status, line: String(line) }));
  expect(findings.filter(({ line }) => line === 'Nothing was found.')).toEqual([]);
  for (const { check_id, status, line } of findings) {
    // Digits are grouped in threes, and a share is on its status's side of the threshold.
    expect(line).not.toMatch(/\d{4},|,\d{1,2}\b|,\d{4}/);
    const share = Number(/(\d+) %/.exec(line)?.[1]);
    const critical = { PG_SEQUENCE_EXHAUSTION: 95, PG_CONN_SATURATION: 95 }[String(check_id)];
    if (status !== 'ok' && critical !== undefined)
      expect([line, share >= critical]).toEqual([line, status === 'critical']);
    const [, part, whole] = /(\d+) of (\d+)/.exec(line) ?? [];
    if (status !== 'ok' && part && whole)
      expect(Math.floor((100 * Number(part)) / Number(whole))).toBe(share);
  }
});

test('the same seed gives the same data, another seed does not', async () => {
  const [one, two, other] = [await newAccount(), await newAccount(), await newAccount()];
  await fill(one);
  await fill(two);
  await fill(other, 8);
  const story = async (account: number) => [
    await rowsOf('select name, host from connection where account_id = $1 order by connection_id', account),
    await rowsOf(
      'select score, summary_text from health_check where account_id = $1 order by health_check_id',
      account,
    ),
    await rowsOf(
      'select check_id, object, severity, status, metric_line from ticket where account_id = $1 order by ticket_id',
      account,
    ),
    await rowsOf(
      'select action_type, status, query, user_agent from activity where account_id = $1 order by id',
      account,
    ),
  ];
  expect(await story(one)).toEqual(await story(two));
  expect((await story(one)).slice(1)).not.toEqual((await story(other)).slice(1));
});

test('times in seconds are rounded as PostgreSQL rounds them', async () => {
  const seconds = Array.from({ length: 2_000 }, (_, n) => 1_790_000_000 + n * 7.0000005);
  const { rows } = await store.writer.query<{ text: string }>(
    `select to_char(to_timestamp(s) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as text
       from unnest($1::float8[]) with ordinality as t (s, n) order by n`,
    [seconds],
  );
  expect(seconds.map(secondsToTimestamp)).toEqual(rows.map(({ text }) => text));
});

test('entries written before or during the command keep their place', async () => {
  const account = await newAccount();
  await fill(account);
  const before = await rowsOf(
    'select id, occurred_at from activity where account_id = $1 order by id',
    account,
  );
  let filling = true;
  const interrupt = async () => {
    while (filling) {
      await changeAccount(store.writer, account, async ({ record }) => {
        record('account_created', '/settings/account', {
          name: 'n',
          kind: 'company',
          plan: 'team',
          requests_per_minute: null,
        });
      });
    }
  };
  await Promise.all([
    fill(account, 9).finally(() => {
      filling = false;
    }),
    interrupt(),
  ]);
  await expectWholeStore(store.writer, account);
  const after = await rowsOf(
    'select id, occurred_at from activity where account_id = $1 order by id',
    account,
  );
  expect(after.slice(0, before.length)).toEqual(before);
});
