import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import type { Rounds } from '../../platform/rounds.ts';
import { testDestination } from '../destinations/test-destination.ts';
import {
  addTo,
  type ReceivedRequest,
  rowsOf,
  runDispatcher,
  startReceiver,
} from '../dispatch/dispatcher-fixture.ts';
import { idsUpTo, tryAgain, waitForDelivery, waitForFailure, writeEntries } from './stream-fixture.ts';

const STREAM = '/dataCollectionRules/dcr-0a1b/streams/Custom-DbvitalsActivity';
const APP = 'contoso.example.com:0f0e0d0c:unspoken-secret';

let store: TestStore;
let dispatcher: Rounds;
let azure: Awaited<ReturnType<typeof startReceiver>>;
/** The token that Azure takes now. */
let valid = 1;
/** The largest body that Azure takes now. */
let largest = 1_048_576;

// Entra ID and the Logs Ingestion API, as their documentation has them.
beforeAll(async () => {
  store = await startTestStore();
  azure = await startReceiver(
    (request) => {
      if (request.path === '/contoso.example.com/oauth2/v2.0/token') return isApp(request) ? 200 : 401;
      if (request.headers.authorization !== `Bearer token-${valid}`) return 401;
      if (request.path !== `${STREAM}?api-version=2023-01-01`) return 404;
      return Buffer.byteLength(request.body) > largest ? 413 : 204;
    },
    (_request, status) => {
      if (status === 200)
        return JSON.stringify({
          token_type: 'Bearer',
          expires_in: 3_599,
          access_token: `token-${valid}`,
        });
      if (status === 401)
        return '{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided."}';
      return status === 404 ? '{"error":{"code":"NotFound","message":"as Azure says"}}' : '';
    },
  );
  dispatcher = runDispatcher(store);
});

afterAll(async () => {
  await dispatcher.stop();
  await azure.stop();
  await store.stop();
});

function isApp({ body }: ReceivedRequest): boolean {
  const form = new URLSearchParams(body);
  return form.get('client_id') === '0f0e0d0c' && form.get('client_secret') === 'unspoken-secret';
}

const addStream = (accountId: number, authorization = APP) =>
  addTo(store, accountId, {
    name: 'Sentinel',
    channel: 'sentinel',
    url: `${azure.url}${STREAM}`,
    authorization,
    stream: { fromId: 1 },
  });

const signIns = () => azure.got.filter(({ path }) => path.endsWith('/token')).length;

/** What Azure took of an account: rows of batches. */
const rowsFor = (accountId: number) =>
  azure.got
    .filter(({ path, headers }) => path.startsWith(STREAM) && headers['dbvitals-account'] === `${accountId}`)
    .flatMap(({ body }) => JSON.parse(body) as Record<string, unknown>[]);

test('one token serves many batches, and a refused one is replaced', async () => {
  const accountId = await store.account();
  await writeEntries(store, accountId, 1_100);
  const before = signIns();
  const id = await addStream(accountId);
  await waitForDelivery(store, id, await writeEntries(store, accountId, 1));
  expect(signIns() - before).toBe(1);
  const columns = new Set(rowsFor(accountId).flatMap((row) => Object.keys(row)));
  expect([...columns].toSorted()).toEqual(['action_type', 'id', 'occurred_at', 'page_path', 'properties']);
  valid += 1;
  const newest = await writeEntries(store, accountId, 1);
  await waitForFailure(store, id, '401%');
  await tryAgain(store, id);
  await waitForDelivery(store, id, newest);
  expect(signIns() - before).toBe(2);
  const ids = [...new Set(rowsFor(accountId).map((row) => row['id']))];
  expect(ids).toEqual(idsUpTo(newest));
});

test('what the API calls too large is halved', async () => {
  const accountId = await store.account();
  await writeEntries(store, accountId, 300);
  const usual = largest;
  onTestFinished(() => {
    largest = usual;
  });
  largest = 20_000;
  const id = await addStream(accountId);
  await waitForDelivery(store, id, await writeEntries(store, accountId, 1));
});

test('a wrong secret is told by its code, and stands in no record', async () => {
  const accountId = await store.account();
  await writeEntries(store, accountId, 1);
  const id = await addStream(accountId, 'contoso.example.com:0f0e0d0c:another-unspoken');
  const sentence = 'There is no token: 401 Unauthorized (invalid_client, AADSTS7000215)';
  await waitForFailure(store, id, sentence);
  const send = () =>
    testDestination((work) => changeAccount(store.writer, accountId, work), store.writer, id);
  expect(await send()).toMatchObject({ accepted: false, result: sentence, response: '' });
  const attempts = await rowsOf(store, 'select * from delivery_attempt where destination_id = $1', [id]);
  expect(JSON.stringify(attempts)).not.toMatch(/unspoken|token-\d/);
});

test('a test is a row with the columns of an entry, and its record has no token', async () => {
  const accountId = await store.account();
  const id = await addStream(accountId);
  await waitForDelivery(store, id, await writeEntries(store, accountId, 1));
  const send = () =>
    testDestination((work) => changeAccount(store.writer, accountId, work), store.writer, id);
  expect(await send()).toMatchObject({ accepted: true, status: 204 });
  const rows = azure.got
    .filter(({ path, headers }) => path.startsWith(STREAM) && headers['dbvitals-account'] === undefined)
    .flatMap(({ body }) => JSON.parse(body) as Record<string, unknown>[]);
  expect(rows).toEqual([
    { id: 0, action_type: 'test', page_path: '', properties: {}, occurred_at: expect.any(String) },
  ]);
  const attempts = await rowsOf(store, 'select * from delivery_attempt where destination_id = $1', [id]);
  expect(JSON.stringify(attempts)).not.toMatch(/unspoken|token-\d/);
});
