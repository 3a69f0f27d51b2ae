import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { fillAccount, makeAccount } from '../contract/account.ts';
import { readLog } from '../contract/activity-log.ts';
import { each, read } from '../contract/ask.ts';
import type { Connection, Entry, List } from '../contract/records.ts';
import { startService } from '../contract/running-service.ts';

const services = Promise.all([
  startService(inject('sharedStore'), ['--no-monitor']),
  startService(inject('sharedStore'), ['--no-monitor']),
]);

afterAll(async () => {
  await Promise.all((await services).map((service) => service.stop()));
});

test('accounts that share server connections never see each other’s rows', async () => {
  const accounts = await each([3, 4, 5, 6], 4, async (count) => {
    const account = await makeAccount();
    await fillAccount(account.id, { connections: count, tickets: 5, activity: 0 });
    return account;
  });
  const own = await each(accounts, 4, async ({ key }) => {
    const { data } = await read<List<Connection>>('/api/v1/health/connections', key);
    return data.map(({ id }) => id);
  });
  expect(new Set(own.flat()).size).toBe(3 + 4 + 5 + 6);
  const origins = (await services).map(({ origin }) => origin);
  const turns = Array.from({ length: 800 }, (_, turn) => turn);
  await each(turns, 16, async (turn) => {
    const at = turn % accounts.length;
    const { key = '' } = accounts[at] ?? {};
    const origin = origins[turn % 2] ?? '';
    // Each URL is different, so that no cached answer replaces the read.
    if (turn % 3 === 0) {
      const path = `/api/v1/health/connections?per_page=100&_=${turn}`;
      const { data } = await read<List<Connection>>(path, key, { origin });
      expect(data.map(({ id }) => id)).toEqual(own[at]);
    } else {
      const path = '/api/v1/activity?action_type=api_request&per_page=100';
      const { data } = await read<List<Entry>>(path, key, { origin });
      expect(data.filter(({ properties }) => properties['api_key_id'] !== accounts[at]?.keyId)).toEqual([]);
    }
  });
  for (const { key } of accounts) {
    const log = await readLog(key);
    expect(log.map(({ id }) => id)).toEqual(log.map((_, place) => place + 1));
    expect(log.length).toBeGreaterThan(200);
  }

  const { clients, servers } = await connections();
  // run.ts allows two connections for each role.
  expect(servers).toBeLessThanOrEqual(4);
  expect(clients).toBeGreaterThan(2 * servers);
});

/** The number of PgBouncer's client and server connections. */
async function connections(): Promise<{ clients: number; servers: number }> {
  const console = new pg.Client({
    connectionString: inject('sharedStore')['DBVITALS_POOLER_URL']?.replace(/\/dbvitals$/, '/pgbouncer'),
  });
  await console.connect();
  const { rows } = await console.query('show pools');
  await console.end();
  const sum = (names: string[]) =>
    rows
      .filter(({ database }) => database !== 'pgbouncer')
      .reduce((all, row) => all + names.reduce((some, name) => some + Number(row[name]), 0), 0);
  return {
    clients: sum(['cl_active', 'cl_waiting']),
    servers: sum(['sv_active', 'sv_idle', 'sv_used', 'sv_tested', 'sv_login']),
  };
}
