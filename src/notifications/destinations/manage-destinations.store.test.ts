import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeLeaks } from '../../../test/support/secret-scan.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { rotateSecretKey } from '../../connections/rotate-secret-key.ts';
import type { SecretKeys } from '../../platform/encryption.ts';
import { LostAccountKey } from '../../store/account-key.ts';
import { openPool } from '../../store/connect.ts';
import { enableDestination } from '../deliveries/enable-destination.ts';
import { addDestination } from './add-destination.ts';
import { changeDestination } from './change-destination.ts';
import type { DestinationChanges, NewDestination } from './destination-input.ts';
import { destinationWithin } from './destination-row.ts';
import { TamperedDestination } from './destination-secrets.ts';
import { disableDestination } from './disable-destination.ts';
import { openDestination } from './open-destination.ts';
import { removeDestination } from './remove-destination.ts';
import { rotateSigningSecret } from './rotate-signing-secret.ts';
import { testDestination } from './test-destination.ts';

let store: TestStore;
const secret: SecretKeys = [Buffer.alloc(32, 7)];
const rules = { allowPrivate: false };
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const within = <T>(accountId: number, work: (change: Change) => Promise<T>) =>
  changeAccount(store.writer, accountId, work);
const add = (accountId: number, wanted: NewDestination) =>
  within(accountId, (change) => addDestination(change, secret, rules, wanted));
const change = (accountId: number, id: number, wanted: DestinationChanges) =>
  within(accountId, (made) => changeDestination(made, secret, rules, id, wanted));
const open = (accountId: number, id: number) => openDestination(store.writer, secret, accountId, id);

const URL_A = 'https://hooks.example.com/unspoken-path?token=unspoken-token';
const hook = (name = 'Hooks') => ({ name, channel: 'webhook' as const, url: URL_A });
const pager = {
  name: 'Pager',
  channel: 'pagerduty' as const,
  routingKey: 'unspokenkey0unspokenkey0unspoken',
};

async function entriesOf(accountId: number): Promise<string> {
  const { rows } = await store.writer.query(
    'select action_type, properties from activity where account_id = $1 order by id',
    [accountId],
  );
  return JSON.stringify(rows);
}

describe('secrets', () => {
  test('are shown once and are nowhere in the store in clear text', async () => {
    const accountId = await store.account();
    const { destination, signing_secret: shown = '' } = await add(accountId, hook());
    await add(accountId, pager);
    await add(accountId, {
      name: 'AM',
      channel: 'alertmanager',
      url: 'https://am.example.com/unspoken-am',
      authorization: 'Bearer unspoken-bearer',
    });
    expect(destination).toMatchObject({ target: 'https://hooks.example.com', state: 'enabled' });
    const { secrets } = (await open(accountId, destination.id)) ?? {};
    expect(secrets).toEqual({ url: URL_A, signing: [{ secret: shown, until: null }] });
    const { signing_secret } = await within(accountId, (made) =>
      rotateSigningSecret(made, secret, destination.id, { endOld: false }),
    );
    const after = await open(accountId, destination.id);
    const [fresh, old] = after?.secrets.signing ?? [];
    expect(fresh).toEqual({ secret: signing_secret, until: null });
    expect(old?.secret).toBe(shown);
    const hours = (Date.parse(old?.until ?? '') - Date.now()) / 3_600_000;
    expect(Math.abs(hours - 24)).toBeLessThan(0.1);
    const [{ host, user, password, database } = {}] = store.address;
    const url = `postgres://${user}:${password}@${encodeURIComponent(host ?? '')}/${database}`;
    const searched = [URL_A, shown ?? '', signing_secret, pager.routingKey, 'unspoken-bearer', 'unspoken-am'];
    expect(await storeLeaks(url, searched)).toEqual([]);
    expect(await entriesOf(accountId)).toMatch(/destination_added.*destination_secret_rotated/);
  });

  test('an Ed25519 webhook shows its public key, and rotating changes it', async () => {
    const accountId = await store.account();
    const { destination, signing_secret } = await add(accountId, { ...hook(), signature: 'ed25519' });
    expect(signing_secret).toMatch(/^whpk_/);
    expect(destination.settings).toEqual({ signature: 'ed25519', public_key: signing_secret });
    const rotated = await within(accountId, (made) =>
      rotateSigningSecret(made, secret, destination.id, { endOld: true }),
    );
    expect(rotated.signing_secret).not.toBe(signing_secret);
    expect((await open(accountId, destination.id))?.secrets.signing).toHaveLength(1);
  });

  test.each([
    ['target', `target = 'https://evil.example.com'`],
    ['channel', `channel = 'slack'`],
    ['settings', `settings = '{"signature": "ed25519"}'`],
    [
      'secrets of another',
      `encrypted = (select encrypted from destination o where o.name = 'Other' limit 1)`,
    ],
    ['no secrets', 'encrypted = null'],
  ])('%s changed in the store decrypt to nothing, until all is entered again', async (_what, set) => {
    const accountId = await store.account();
    await add(accountId, hook('Other'));
    const { destination } = await add(accountId, hook());
    const { id } = destination;
    await store.writer.query(`update destination set ${set} where destination_id = $1`, [id]);
    await expect(open(accountId, id)).rejects.toThrow(TamperedDestination);
    await expect(
      within(accountId, (made) => rotateSigningSecret(made, secret, id, { endOld: false })),
    ).rejects.toThrow(/changed outside dbvitals|removed outside dbvitals|Only webhooks/);
    const url = 'https://new.example.com/services/x';
    const changed = await change(accountId, id, { url });
    const opened = await open(accountId, id);
    expect(opened?.secrets.url).toBe(url);
    if (opened?.channel === 'webhook') expect(changed.signing_secret).toMatch(/^wh(?:sec|pk)_/);
    expect(JSON.stringify(opened)).not.toContain('unspoken');
  });

  test('are not sent to another server than they were entered for', async () => {
    const accountId = await store.account();
    const { id } = (await add(accountId, pager)).destination;
    const url = 'https://events.eu.pagerduty.com/v2/enqueue';
    await expect(change(accountId, id, { url })).rejects.toThrow(/enter the integration key again/);
    await change(accountId, id, { url, routingKey: pager.routingKey });
    const am = { name: 'AM', channel: 'alertmanager' as const, url: 'https://am.example.com/' };
    const { destination } = await add(accountId, { ...am, authorization: 'Bearer unspoken' });
    await expect(change(accountId, destination.id, { url: 'https://evil.example.com/' })).rejects.toThrow(
      /enter the Authorization header again/,
    );
    await change(accountId, destination.id, { url: 'https://am.example.com/other' });
    expect((await open(accountId, destination.id))?.secrets.authorization).toBe('Bearer unspoken');
    await change(accountId, destination.id, { authorization: '' });
    expect((await open(accountId, destination.id))?.secrets).toEqual({ url: 'https://am.example.com/other' });
  });
});

test('rotating the secret key keeps secrets; forgetting a lost one disables destinations', async () => {
  const accountId = await store.account();
  const { id } = (await add(accountId, hook())).destination;
  const owner = openPool(store.address, 'owner', { max: 1 });
  const fresh: SecretKeys = [Buffer.alloc(32, 8), secret[0]];
  await rotateSecretKey(owner, fresh, false);
  expect((await openDestination(store.writer, [fresh[0]], accountId, id))?.secrets.url).toBe(URL_A);
  await expect(open(accountId, id)).rejects.toThrow(LostAccountKey);
  await rotateSecretKey(owner, [Buffer.alloc(32, 9)], true);
  await owner.end();
  const row = await within(accountId, (made) => destinationWithin(made, id));
  expect(row).toMatchObject({
    state: 'disabled',
    state_reason: expect.stringMatching(/forgotten with a lost/),
  });
  await change(accountId, id, { url: URL_A });
  expect((await open(accountId, id))?.secrets.url).toBe(URL_A);
});

test('20 destinations at most, also of 30 added at once', async () => {
  const accountId = await store.account();
  const adding = Array.from({ length: 30 }, (_, at) => add(accountId, hook(`Hook ${at}`)));
  const done = await Promise.allSettled(adding);
  expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
  await expect(add(accountId, hook('One more'))).rejects.toThrow(/has 20 destinations, which is the most/);
});

test('a name is taken once in an account, and a hostile one stays text', async () => {
  const [one, two] = [await store.account(), await store.account()];
  const name = `'; drop table destination; -- <script> \u202e`;
  const { destination } = await add(one, hook(name));
  expect(destination.name).toBe(name);
  await expect(add(one, hook(name))).rejects.toThrow(/has this name/);
  await add(two, hook(name));
  await expect(change(one, (await add(one, hook('B'))).destination.id, { name })).rejects.toThrow(
    /has this name/,
  );
});

test('10 tests a minute, also of 30 at once; nobody sends them here', async () => {
  const accountId = await store.account();
  const { id } = (await add(accountId, hook())).destination;
  const run = (made: <T>(work: (of: Change) => Promise<T>) => Promise<T>) =>
    testDestination(made, store.writer, id, { patience: 0 });
  const done = await Promise.allSettled(
    Array.from({ length: 30 }, () => run((work) => changeAccount(store.writer, accountId, work))),
  );
  const sent = done.filter((each) => each.status === 'fulfilled').map(({ value }) => value);
  expect(sent).toHaveLength(10);
  expect(sent[0]).toMatchObject({ accepted: null, result: expect.stringMatching(/"dbvitals serve" runs/) });
  const refused = done.find((each) => each.status === 'rejected');
  expect(refused?.reason).toMatchObject({ code: 'too_many_attempts', retryAfter: expect.any(Number) });
});

test('disabling keeps what is queued; enabling sends or skips it; removing cancels it', async () => {
  const accountId = await store.account();
  const { id } = (await add(accountId, hook())).destination;
  const queueTest = () =>
    testDestination((work) => changeAccount(store.writer, accountId, work), store.writer, id, {
      patience: 0,
    });
  const states = async () =>
    (
      await store.writer.query('select state, reason from delivery where account_id = $1 order by 1', [
        accountId,
      ])
    ).rows;
  await queueTest();
  const off = await within(accountId, (made) => disableDestination(made, id, 'Disabled by Ada.'));
  expect(off).toMatchObject({ state: 'disabled', state_reason: 'Disabled by Ada.' });
  await within(accountId, (made) => disableDestination(made, id, 'Again.'));
  expect((await entriesOf(accountId)).match(/destination_disabled/g)).toHaveLength(1);
  await expect(queueTest()).rejects.toThrow(/enable it first/);
  expect((await within(accountId, (made) => enableDestination(made, id, 'send'))).queue.queued).toBe(1);
  await expect(within(accountId, (made) => enableDestination(made, id, 'send'))).rejects.toThrow(/already/);
  await within(accountId, (made) => disableDestination(made, id, 'Disabled by Ada.'));
  const on = await within(accountId, (made) => enableDestination(made, id, 'skip'));
  expect(on).toMatchObject({ state: 'enabled', state_reason: null, queue: { queued: 0 } });
  expect(await states()).toEqual([{ state: 'cancelled', reason: expect.stringMatching(/^Skipped/) }]);
  await queueTest();
  await within(accountId, (made) => removeDestination(made, id));
  expect(await states()).toHaveLength(2);
  expect(await open(accountId, id)).toBeNull();
  const { rows } = await store.writer.query('select encrypted from destination where destination_id = $1', [
    id,
  ]);
  expect(rows).toEqual([{ encrypted: null }]);
});

test('no verb reaches a destination or a connection of another account', async () => {
  const [mine, theirs] = [await store.account(), await store.account()];
  const { id } = (await add(theirs, hook())).destination;
  const connection = await store.connection(theirs);
  const verbs: ((made: Change) => Promise<unknown>)[] = [
    (made) => destinationWithin(made, id),
    (made) => changeDestination(made, secret, rules, id, { name: 'Mine' }),
    (made) => removeDestination(made, id),
    (made) => disableDestination(made, id, 'x'),
    (made) => enableDestination(made, id, 'send'),
    (made) => rotateSigningSecret(made, secret, id, { endOld: true }),
  ];
  for (const verb of verbs) await expect(within(mine, verb)).rejects.toThrow(`There is no destination ${id}`);
  await expect(
    testDestination((work) => changeAccount(store.writer, mine, work), store.writer, id, { patience: 0 }),
  ).rejects.toThrow(`There is no destination ${id}`);
  await expect(add(mine, { ...hook(), connectionIds: [connection] })).rejects.toThrow(/no connection/);
  expect(await open(mine, id)).toBeNull();
  expect(await within(theirs, (made) => destinationWithin(made, id))).toMatchObject({ name: 'Hooks' });
});
