import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import { exchange, exchangePlainly, type Statement } from './pg-exchange.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'reader', { max: 1, pipeline: true });
});

afterAll(async () => {
  await reader.end();
  await store.stop();
});

const statement = (text: string, ...values: unknown[]): Statement => ({ text, values, returnsRows: true });

const reads = [
  statement("select set_config('dbvitals.account_id', $1, true) as account", 7),
  statement("select current_setting('dbvitals.account_id') as account"),
  statement("select 1 as a, 'x' as b, null as c, true as d, array[1, 2]::bigint[] as e where $1::int = 5", 5),
  statement('select 1 as a where false'),
];

test('the plain way returns the same rows, in one transaction, and leaves none open', async () => {
  const client = await reader.connect();
  try {
    const plain = await exchangePlainly(client, reads);
    expect(plain).toEqual(await exchange(client, reads));
    expect(plain[1]).toEqual([{ account: '7' }]);
    await expect(exchangePlainly(client, [statement('select 1 / (1 - 1)')])).rejects.toThrow(
      'division by zero',
    );
    const after = statement(
      "select coalesce(nullif(current_setting('dbvitals.account_id', true), ''), 'none') as account",
    );
    expect(await exchangePlainly(client, [after])).toEqual([[{ account: 'none' }]]);
  } finally {
    client.release();
  }
});
