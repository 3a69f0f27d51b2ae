import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { removeConnection } from '../../connections/remove-connection.ts';
import { changeTriage } from '../triage/change-triage.ts';
import { addTickets } from '../triage/many-tickets-fixture.ts';
import { addSilence, type WantedSilence } from './add-silence.ts';
import { endSilence, endSilences } from './end-silence.ts';
import { resumeSilences, withdrawSilence } from './undo-silences.ts';

let store: TestStore;
let account: number;
let connection: number;
let ids: number[];

beforeAll(async () => {
  store = await startTestStore();
});

beforeEach(async () => {
  account = await store.account();
  connection = await store.connection(account);
  ids = await addTickets(store, account, { connections: [connection], count: 6 });
});

afterAll(() => store.stop());

const by =
  (of = account) =>
  <T>(work: Parameters<typeof changeAccount<T>>[2]) =>
    changeAccount(store.writer, of, work);
const silence = (wanted: Partial<WantedSilence> = {}) =>
  addSilence(by(), connection, {
    check_id: 'PG_UNUSED_INDEX',
    object: null,
    reason: 'accepted_risk',
    note: 'known',
    until: new Date(Date.now() + 86_400_000),
    ...wanted,
  });
const rows = async (sql: string) => (await store.writer.query(sql, [account])).rows;
const tickets = () =>
  rows('select to_jsonb(t) as ticket from ticket t where account_id = $1 order by ticket_id');
const silences = () =>
  rows('select to_jsonb(s) as silence from silence s where account_id = $1 order by silence_id');
const tallies = () =>
  rows('select to_jsonb(t) as tally from ticket_tally t where account_id = $1 order by to_jsonb(t)::text');
const entries = async () =>
  (await rows('select action_type, properties from activity where account_id = $1 order by id')).map(
    ({ action_type, properties }) => [action_type, properties.undone === true],
  );

test('an undone silence gives back the tickets as they were, with their triage and their counts', async () => {
  const seen = ids.map((id) => ({ id, version: 0 }));
  await changeTriage(by(), seen, { acknowledged: { until: null } });
  const before = [await tickets(), await tallies()];
  const { id } = await silence();
  expect([await tickets(), await tallies()]).not.toEqual(before);
  await withdrawSilence(by(), id);
  expect([await tickets(), await tallies()]).toEqual(before);
  const told = (await entries()).slice(ids.length);
  expect(told.filter(([type]) => type === 'ticket_reopened')).toHaveLength(2);
  expect(told.slice(-3)).toEqual([
    ['silence_ended', true],
    ['ticket_reopened', true],
    ['ticket_reopened', true],
  ]);
  // Only once.
  await expect(withdrawSilence(by(), id)).rejects.toThrow(`There is no active silence ${id}`);
});

test('undoing a silence opens only what that silence resolved', async () => {
  await store.writer.query(
    `update ticket set status = 'resolved', resolved_at = now(), resolution = 'no longer found'
      where account_id = $1 and ticket_id = $2`,
    [account, ids[0]],
  );
  const [first] = (await tickets()).filter(({ ticket }) => ticket.status === 'open');
  const { check_id, object } = first.ticket;
  const one = await silence({ check_id, object });
  const all = await silence({ check_id });
  await withdrawSilence(by(), one.id);
  // The other silence still covers it.
  expect(
    (await tickets()).filter(({ ticket }) => ticket.resolution === 'silenced: accepted_risk'),
  ).not.toEqual([]);
  await withdrawSilence(by(), all.id);
  const [gone] = await tickets();
  expect(gone?.ticket).toMatchObject({ status: 'resolved', resolution: 'no longer found' });
});

test('the undone end of a silence restores it exactly, and resolves what opened meanwhile', async () => {
  const one = await silence();
  const two = await silence({ check_id: 'PG_IDLE_IN_TXN', until: null });
  const [before, opened] = [await silences(), await tickets()];
  await endSilences(by(), [one.id, two.id]);
  const [found] = opened.filter(({ ticket }) => ticket.check_id === 'PG_UNUSED_INDEX');
  await store.writer.query(
    `update ticket set status = 'open', resolved_at = null, resolution = null, reopened_at = array[now()]
      where account_id = $1 and ticket_id = $2`,
    [account, found.ticket.ticket_id],
  );
  expect((await resumeSilences(by(), [one.id, two.id])).map(({ id }) => id).sort()).toEqual([one.id, two.id]);
  expect(await silences()).toEqual(before);
  expect((await tickets()).map(({ ticket }) => ticket.status)).toEqual(
    opened.map(({ ticket }) => ticket.status),
  );
  // Only once, and nothing that is active.
  expect(await resumeSilences(by(), [one.id, two.id])).toEqual([]);
  expect(await silences()).toEqual(before);
});

test('each entry of a silence names its connection', async () => {
  const { id } = await silence();
  await endSilence(by(), id);
  await resumeSilences(by(), [id]);
  const [{ name }] = await rows('select name from connection where account_id = $1');
  const named = await rows(
    `select properties ->> 'connection_name' as name from activity where account_id = $1 and action_type like 'silence%'`,
  );
  expect(named).toEqual([{ name }, { name }, { name }]);
});

test('neither is undone after an hour, nor a silence whose time is over', async () => {
  const { id } = await silence();
  await store.writer.query(
    `update silence set created_at = created_at - interval '61 min' where account_id = $1`,
    [account],
  );
  await expect(withdrawSilence(by(), id)).rejects.toThrow('There is no active silence');
  await endSilence(by(), id);
  await store.writer.query('update silence set until_before = now() where account_id = $1', [account]);
  expect(await resumeSilences(by(), [id])).toEqual([]);
  await store.writer.query(
    `update silence set until_before = null, ends_at = ends_at - interval '61 min', ended_at = ended_at - interval '61 min'
      where account_id = $1`,
    [account],
  );
  expect(await resumeSilences(by(), [id])).toEqual([]);
});

test('the silence of a removed connection is not undone: nothing would resolve its tickets again', async () => {
  const { id } = await silence();
  await removeConnection(by(), connection);
  await expect(withdrawSilence(by(), id)).rejects.toThrow('There is no active silence');
  expect((await tickets()).map(({ ticket }) => ticket.status)).not.toContain('open');
});

test('another account undoes nothing', async () => {
  const theirs = await store.account();
  const { id } = await silence();
  await expect(withdrawSilence(by(theirs), id)).rejects.toThrow('There is no active silence');
  await endSilence(by(), id);
  const before = await silences();
  expect(await resumeSilences(by(theirs), [id])).toEqual([]);
  expect(await silences()).toEqual(before);
});

test('a connection has at most 1,000 active silences', async () => {
  const ended = await silence({ object: 'public.ended' });
  await endSilence(by(), ended.id);
  await store.writer.query(
    `insert into silence (account_id, connection_id, created_at, check_id, object, reason, note, ends_at, created_by)
     select $1, $2, now(), 'PG_UNUSED_INDEX', 'public.t' || n, 'accepted_risk', 'known', null, 'Ada' from generate_series(1, 999) n`,
    [account, connection],
  );
  const { id } = await silence({ object: 'public.last' });
  const tooMany = 'A connection has at most 1000 active silences. End some, or silence a whole check.';
  await expect(silence()).rejects.toThrow(tooMany);
  await expect(resumeSilences(by(), [ended.id])).rejects.toThrow(tooMany);
  await endSilence(by(), id);
  expect(await resumeSilences(by(), [ended.id])).toHaveLength(1);
});
