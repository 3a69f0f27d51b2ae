import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeLeaks } from '../../../test/support/secret-scan.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { logged, runOnce } from '../../monitor/run-fixture.ts';
import { changesOf } from './changes-fixture.ts';

let store: TestStore;
let root: pg.Client;
beforeAll(async () => {
  store = await startTestStore();
  root = await store.superuser();
  await root.query('create role app');
  await root.query('create database shop');
});
afterAll(() => store.stop());

// A setting, and a value with SECRET in it.
const OF_SERVER = [
  ['primary_conninfo', 'host=db user=replica password=SECRET'],
  ['archive_command', 'cp %p s3://SECRET@bucket/%f'],
  ['restore_command', 'fetch --key SECRET %f %p'],
  ['archive_cleanup_command', 'clean SECRET'],
  ['recovery_end_command', 'tell SECRET'],
  ['ssl_passphrase_command', 'echo SECRET'],
  ['log_line_prefix', 'password=SECRET %m '],
  ['cluster_name', 'http://ada:SECRET@db'],
] as const;
const OF_ROLES = [
  ['myapp.api_token', 'SECRET'],
  ['myapp.pepper', 'SECRET'],
  ['myapp.jwt', 'SECRET'],
  ['search_path', 'postgres://ada:SECRET@db/shop'],
] as const;

const secretOf = (name: string, round: string) => `planted-${name.replaceAll(/\W/g, '-')}-${round}`;

async function plant(round: string): Promise<string[]> {
  const secrets = [];
  for (const [name, value] of OF_SERVER) {
    secrets.push(secretOf(name, round));
    await root.query(`alter system set ${name} = '${value.replace('SECRET', secretOf(name, round))}'`);
  }
  for (const [name, value] of OF_ROLES) {
    for (const [owner, of] of [
      ['role app', 'role'],
      ['database shop', 'database'],
    ]) {
      const secret = secretOf(`${name}-${of}`, round);
      secrets.push(secret);
      await root.query(`alter ${owner} set ${name} = '${value.replace('SECRET', secret)}'`);
    }
  }
  await store.halt();
  await store.start();
  root = await store.superuser();
  return secrets;
}

test('a secret in a setting reaches neither the store, nor the log, nor a list of changes', async () => {
  const secrets = await plant('first');
  const key = await store.watched();
  const { text } = await logged('debug', async (log) => {
    const deps = { ...store, deps: { ...store.deps, log } };
    await runOnce(deps, key);
    secrets.push(...(await plant('second')));
    await runOnce(deps, key);
  });
  const changes = (await changesOf(store, key)).filter(({ kind }) => kind === 'setting');
  const hidden = expect.stringMatching(/^hidden \([0-9a-f]{8}\)$/);
  for (const [name] of OF_SERVER)
    expect(changes).toContainEqual(expect.objectContaining({ subject: name, before: hidden, after: hidden }));
  expect(changes).toHaveLength(OF_SERVER.length + 2 * OF_ROLES.length);
  expect(changes.every(({ before, after }) => before !== after)).toBe(true);

  expect(text).not.toContain('planted');
  expect(JSON.stringify([store.said, changes])).not.toContain('planted');
  const [{ host = '', password = '' } = {}] = store.address;
  const place = `postgres://postgres:${encodeURIComponent(String(password))}@/store?host=${encodeURIComponent(host)}`;
  expect(await storeLeaks(place, secrets)).toEqual([]);
  // The scan does read what the runs stored.
  expect((await storeLeaks(place, ['archive_cleanup_command'])).toSorted()).toEqual([
    expect.stringContaining('table connection_change holds'),
    expect.stringContaining('table fact_snapshot holds'),
  ]);
});

test('equal values of two connections have different hashes', async () => {
  const keys = [await store.watched(), await store.watched()];
  for (const key of keys) await runOnce(store, key);
  const text = `
    select fact ->> 2 as value
      from fact_snapshot, jsonb_array_elements(facts -> 'facts') fact
     where kind = 'setting' and fact ->> 1 = 'primary_conninfo' and connection_id = any ($1)`;
  const { rows } = await store.writer.query(text, [keys.map(({ connectionId }) => connectionId)]);
  expect(rows).toHaveLength(2);
  expect(rows[0].value).toMatch(/^hidden/);
  expect(rows[0].value).not.toBe(rows[1].value);
});
