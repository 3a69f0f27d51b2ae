import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import { listSilent, recordSilence, startCollectorWatch } from './watch-collectors.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

async function collector(contact: string, measures = true): Promise<{ accountId: number; id: number }> {
  const accountId = await store.account();
  const { rows } = await store.writer.query<{ id: number }>(
    `insert into collector (account_id, name, public_key, created_at, enrolled_at, last_contact_at)
     values ($1, 'frankfurt', sha256('k'), now(), now(), now() - $2::interval) returning collector_id as id`,
    [accountId, contact],
  );
  const id = rows[0]?.id ?? 0;
  if (measures) {
    const connectionId = await store.connection(accountId);
    await store.writer.query('insert into collected_connection values ($1, $2, $3, $4)', [
      accountId,
      connectionId,
      id,
      'a',
    ]);
  }
  return { accountId, id };
}

async function entries(accountId: number) {
  const { rows } = await store.writer.query<{ action_type: string; properties: object }>(
    'select action_type, properties from activity where account_id = $1 order by id',
    [accountId],
  );
  return rows;
}

const silence = ({ accountId }: { accountId: number }, since: string) =>
  store.writer.query('update collector set last_contact_at = now() - $2::interval where account_id = $1', [
    accountId,
    since,
  ]);

const hear = ({ accountId }: { accountId: number }) =>
  store.writer.query('update collector set last_contact_at = now() where account_id = $1', [accountId]);

test('a collector that falls silent is recorded once, and once that it is back', async () => {
  const silent = await collector('61 s');
  await Promise.all([recordSilence(store.writer), recordSilence(store.writer)]);
  await recordSilence(store.writer);
  const properties = { collector_id: silent.id, name: 'frankfurt', connections: 1 };
  expect(await entries(silent.accountId)).toMatchObject([{ action_type: 'collector_silent', properties }]);
  expect(await listSilent(store.writer)).toContainEqual({ account_id: silent.accountId, name: 'frankfurt' });
  await hear(silent);
  await recordSilence(store.writer);
  await recordSilence(store.writer);
  expect((await entries(silent.accountId)).map(({ action_type }) => action_type)).toEqual([
    'collector_silent',
    'collector_returned',
  ]);
});

test('one that comes and goes is told of once in ten minutes', async () => {
  const flapping = await collector('61 s');
  const of = flapping.accountId;
  const fallsSilent = () => silence(flapping, '61 s');
  for (let n = 0; n < 5; n++) {
    await fallsSilent();
    await recordSilence(store.writer);
    await hear(flapping);
    await recordSilence(store.writer);
  }
  const kinds = async () => (await entries(of)).map(({ action_type }) => action_type);
  expect(await kinds()).toEqual(['collector_silent', 'collector_returned']);
  await store.writer.query(
    "update collector set returned_at = now() - interval '601 s' where account_id = $1",
    [of],
  );
  await fallsSilent();
  await recordSilence(store.writer);
  expect(await kinds()).toEqual(['collector_silent', 'collector_returned', 'collector_silent']);
});

test('one that was just back, and stays away, is told of after three minutes', async () => {
  const lost = await collector('61 s');
  await recordSilence(store.writer);
  await hear(lost);
  await recordSilence(store.writer);
  const silentFor = async (since: string) => {
    await silence(lost, since);
    await recordSilence(store.writer);
    return (await entries(lost.accountId)).length;
  };
  expect(await silentFor('170 s')).toBe(2);
  expect(await silentFor('181 s')).toBe(3);
});

test('one that is heard, measures nothing or is revoked is not silent', async () => {
  const others = [await collector('50 s'), await collector('1 h', false), await collector('1 h')];
  await store.writer.query('update collector set revoked_at = now() where account_id = $1', [
    others[2]?.accountId,
  ]);
  await recordSilence(store.writer);
  for (const { accountId } of others) expect(await entries(accountId)).toEqual([]);
});

test('an account whose log hangs does not keep the next one from its entry', async () => {
  const [hung, next] = [await collector('61 s'), await collector('61 s')];
  const lock = await store.superuser('store');
  const writer = openPool(store.address, 'writer', { max: 2, statementTimeout: 1_000 });
  try {
    await lock.query('begin');
    await lock.query('select from activity_head where account_id = $1 for update', [hung.accountId]);
    await expect(recordSilence(writer)).rejects.toThrow('timeout');
    expect(await entries(next.accountId)).toMatchObject([{ action_type: 'collector_silent' }]);
    await lock.query('rollback');
    await recordSilence(store.writer);
    expect(await entries(hung.accountId)).toMatchObject([{ action_type: 'collector_silent' }]);
  } finally {
    await lock.end();
    await writer.end();
  }
});

test('nobody is silent before the service has been up for a while', async () => {
  const silent = await collector('1 h');
  const watch = startCollectorWatch(store.writer, store.deps.log, { first: 10, every: 10, catchUp: 5_000 });
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(await entries(silent.accountId)).toEqual([]);
  await expect.poll(() => entries(silent.accountId)).toHaveLength(1);
  await watch.stop();
});
