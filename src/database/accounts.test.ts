import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandJson } from '../../test/contract/command.ts';
import { type Service, startService } from '../../test/contract/running-service.ts';
import { loggingPlans, type Scan, scansOf } from '../../test/logged-plans.ts';
import { startTestStore, type TestStore } from '../../test/store.ts';

let store: TestStore;
let service: Service;
let environment: Record<string, string>;
let firstKey = '';
let key = '';

beforeAll(async () => {
  store = await startTestStore(loggingPlans);
  // Without the second wall a condition that is seen is the statement's own.
  const root = await store.superuser('store');
  const { rows } = await root.query(`select tablename from pg_policies where policyname = 'own_account'`);
  for (const { tablename } of rows) await root.query(`alter policy own_account on ${tablename} using (true)`);
  const [{ host, user, password, database } = {}] = store.address;
  environment = {
    DATABASE_URL: `postgres://${user}:${password}@${encodeURIComponent(host ?? '')}/${database}`,
    DBVITALS_SECRET_KEY: '5e'.repeat(32),
  };
  service = await startService(environment, ['--no-monitor']);
  [, firstKey = ''] = await service.says(/API key +(dbv_live_\w{49})/);
  await commandJson(['account', 'change', '1', '--requests-per-minute', '100000'], { environment });
  const filled = '--activity 200 --connections 3 --tickets 20 --days 9 --seed 7'.split(' ');
  for (const name of ['full', 'other']) {
    const { id } = await commandJson<{ id: number }>(
      ['account', 'create', '--name', name, '--plan', 'enterprise', '--requests-per-minute', '100000'],
      { environment },
    );
    await commandJson(['sample-data', '--account', String(id), ...filled], { environment });
    const made = await commandJson<{ key: string }>(
      ['key', 'create', '--account', String(id), '--name', 'own'],
      { environment },
    );
    key = made.key;
  }
});

afterAll(async () => {
  await service.stop();
  await store.stop();
});

async function ask(path: string, token = key): Promise<unknown> {
  const answer = await fetch(service.origin + path, { headers: { authorization: `Bearer ${token}` } });
  const body: unknown = await answer.json();
  expect(answer.status, `${path}: ${JSON.stringify(body)}`).toBeLessThan(500);
  return body;
}

/** All combinations of one choice for each parameter; null leaves it out. */
function combinations(choices: Record<string, (string | null)[]>): string[] {
  let queries: string[] = [''];
  for (const [name, values] of Object.entries(choices)) {
    queries = queries.flatMap((query) =>
      values.map((value) => (value === null ? query : `${query}&${name}=${value}`)),
    );
  }
  return queries.map((query) => `?per_page=5${query}`);
}

/** Those that would read rows of other accounts. */
function withoutAccount(scans: Scan[]): Scan[] {
  return scans.filter(({ conditions }) => !/\baccount_id = /.test(conditions));
}

test('docs/scaling.md distributes every table, those that others refer to first', async () => {
  const root = await store.superuser('store');
  const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/create_distributed_table\('(\w+)', 'account_id'/g)].map(
    ([, name]) => name,
  );
  const { rows: tables } = await root.query(`select relname as name from pg_class where relforcerowsecurity`);
  expect(listed.toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  const { rows: references } = await root.query(
    `select conrelid::regclass::text as of, confrelid::regclass::text as on from pg_constraint where contype = 'f'`,
  );
  expect(references.length).toBeGreaterThan(5);
  expect(references.filter(({ of, on }) => listed.indexOf(of) < listed.indexOf(on))).toEqual([]);
});

describe('every statement that a request causes names its account', () => {
  test('for each table, in each endpoint, whatever its parameters, and in the gate', {
    timeout: 120_000,
  }, async () => {
    const { data } = (await ask('/api/v1/health/connections')) as { data: { id: number }[] };
    const id = String(data[0]?.id);
    const days = { from: [null, '2020-01-01'], to: [null, '2090-01-01', '2026-01-01'], page: [null, '2'] };
    const paths = [
      ...['/api/v1/health/connections', '/api/v1/health/connections?page=2&per_page=2'],
      ...[`/api/v1/health/connections/${id}/checks/latest`, '/api/v1/health/connections/1/checks/latest'],
      ...['/api/v1/health/fleet', '/api/v1/ops/stats', '/api/v1/team/members', '/api/v1/team/roles'],
      ...combinations({
        ...{ status: [null, 'open'], severity: [null, 'critical'], connection_id: [null, id], ...days },
      }).map((query) => `/api/v1/ops/tickets${query}`),
      ...combinations({
        ...{ action_type: [null, 'api_request', 'ticket_opened', 'no_such'], ...days },
        ...{ order: [null, 'asc'], after_id: [null, '7'] },
      }).map((query) => `/api/v1/activity${query}`),
      ...['/api/v1/nothing', '/api/v1/ops/tickets?status=wrong'],
    ];
    const scans = await scansOf(store, async () => {
      await ask('/api/v1/health/fleet', firstKey);
      for (const path of paths) await ask(path);
    });
    const seen = new Set(scans.map(({ table }) => table));
    const shown = [
      'account',
      'activity',
      'activity_head',
      'api_key',
      'connection',
      'health_check',
      'key_window',
    ];
    expect([...seen]).toEqual(expect.arrayContaining([...shown, 'member', 'ticket']));
    // A key's account is known once it is found: the one statement that looks among all accounts.
    const without = withoutAccount(scans);
    expect(without.length).toBeGreaterThan(0);
    expect(
      without.filter(({ table, conditions }) => table !== 'api_key' || !/\bhash = /.test(conditions)),
    ).toEqual([]);
  });

  test('one that does not is found, in a join, in a function and in a sub-select', async () => {
    const root = await store.superuser('store');
    await root.query(`
      create function leak() returns bigint language plpgsql stable as $$
      begin return (select count(*) from member where status = 'active'); end $$`);
    const scans = await scansOf(store, () =>
      root.query(`
        select c.name, h.score, leak(), (select max(ticket_id) from ticket)
          from connection c
          left join health_check h on h.health_check_id = c.latest_check_id
         where c.account_id = 1`),
    );
    expect(withoutAccount(scans).map(({ table }) => table)).toEqual(
      expect.arrayContaining(['health_check', 'member', 'ticket']),
    );
    expect(withoutAccount(scans).map(({ table }) => table)).not.toContain('connection');
  });
});
