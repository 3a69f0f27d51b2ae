import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countKeys } from '../../../accounts/keys/key-counts.ts';
import { remindOfExpiry } from '../../../accounts/keys/remind-of-expiry.ts';
import { recordPruned } from '../../../activity/record-pruned.ts';
import { sealEntries } from '../../../activity/seals/record-seals.ts';
import { claimConnection, claimDueConnections, countDueConnections } from '../../../monitor/claim.ts';
import { alertRound } from '../../../notifications/alerts/alert-rounds.ts';
import { takeDueBeats } from '../../../notifications/alerts/heartbeat-rounds.ts';
import { askRecipients } from '../../../notifications/destinations/ask-recipients.ts';
import { findDue } from '../../../notifications/dispatch/find-due.ts';
import { logEnds } from '../../../notifications/dispatch/log-ends.ts';
import type { SecretKeys } from '../../../platform/encryption.ts';
import { rollUp } from '../../../runs/measures/roll-up.ts';
import { retain } from '../../../service/retention.ts';
import { openPool } from '../../connect.ts';
import { moveAccount } from './move-account.ts';
import { type CellStore, moveKilledAt, rowsOf, startTwoCells, type TwoCells } from './move-fixture.ts';

let cells: TwoCells;
let owner: pg.Pool;
const secret: SecretKeys = [randomBytes(32)];

beforeAll(async () => {
  cells = await startTwoCells();
  owner = openPool(cells.one.address, 'owner', { max: 1 });
  await makeAllDue(cells.one, cells.filled);
});
afterAll(async () => {
  await owner.end();
  await cells.stop();
});

/** Gives each background job something to do for the account, and nothing for others. */
async function makeAllDue({ root }: CellStore, id: number): Promise<void> {
  await root.query(`
    update connection_schedule set due_at = case account_id when ${id} then now() - interval '1 h' else 'infinity' end, claimed_by = null, claimed_until = null;
    update connection set removed_at = null where account_id = ${id};
    update destination set state = 'enabled', removed_at = null where account_id = ${id};
    with beat as (
      insert into destination (account_id, name, channel, target, settings, kinds, state_since, created_at)
      select ${id}, 'beat', 'heartbeat', 'https://example.com', '{}', '{}', now(), now()
       where not exists (select from destination where channel = 'heartbeat')
      returning account_id, destination_id
    )
    insert into destination_queue (account_id, destination_id, epoch) select account_id, destination_id, 'e' from beat;
    update destination_queue set due_at = case account_id when ${id} then now() end, last_attempt_at = null;
    update connection_schedule set every = '10 years';
    update delivery set is_logged = account_id <> ${id}, ended_at = now() - interval '1 min' where ended_at is not null;
    update delivery set state = 'accepted', ended_at = now() - interval '1 min', is_logged = account_id <> ${id} where account_id = ${id};
    update destination_recipient set ask_at = case account_id when ${id} then now() end, asked_at = now();
    update measure_rolled set hours_to = case account_id when ${id} then now() - interval '3 h' else now() end;
    insert into activity_floor (account_id, first_id, events) values (${id}, 5, 1) on conflict (account_id) do update set first_id = 5, told_id = 0, told_at = null;
    delete from activity where account_id = ${id} and id < 5;
    update api_key set expires_at = now() + interval '1 hour', created_at = now() - interval '60 days', revoked_at = null, expiry_reminders = 0, replaced_by = null
     where account_id = ${id};
    update alert set state = 'open', resolved_at = null, announced_at = null, acknowledged_at = null, acknowledged_until = null, details = '{}'
     where account_id = ${id} and alert_id = (select min(alert_id) from alert where account_id = ${id})`);
}

/** What each job finds to do in a cell. */
async function findWork({ writer }: CellStore, id: number) {
  const of = (all: readonly { accountId: number }[]) =>
    all.filter(({ accountId }) => accountId === id).length;
  return {
    due: (await countDueConnections(writer)).due,
    claims: of(await claimDueConnections(writer, '0190b0a0-0000-7000-8000-00000000000a', 50)),
    deliveries: of(await findDue(writer, [])),
    beats: of(await takeDueBeats(writer, 50)),
  };
}

/** Asks recipients who have not confirmed; nothing can be sent. */
async function ask({ writer }: CellStore): Promise<void> {
  const send = () => Promise.reject(new Error('nothing is sent'));
  await askRecipients({ writer, secret, send, consoleUrl: () => 'https://example.com' }).catch(() => {});
}

const collect = async (steps: AsyncGenerator<unknown>) => {
  for await (const _ of steps);
};

test('in use, every job finds something to do', async () => {
  const { one, filled } = cells;
  const found = await findWork(one, filled);
  expect(found.claims).toBeGreaterThan(0);
  expect(found.deliveries).toBeGreaterThan(0);
  expect(found.beats).toBeGreaterThan(0);
  await makeAllDue(one, filled);
});

describe('no background work starts for an account that leaves, or has left', () => {
  test.each(['closed the log', 'finished'])('killed at "%s"', async (step) => {
    const { one, filled } = cells;
    if (step === 'finished') await moveAccount(cells.parts, filled, 2);
    else moveKilledAt(cells, filled, step, 1);
    const before = await rowsOf(one.root, filled);

    expect(await findWork(one, filled)).toEqual({ claims: 0, due: 0, deliveries: 0, beats: 0 });
    await ask(one);
    await alertRound(one.writer, { judgesStale: true });
    await logEnds(one.writer);
    await collect(rollUp(one.writer));
    await collect(countKeys(owner));
    await collect(remindOfExpiry(owner));
    await recordPruned(owner);
    await collect(sealEntries({ owner, secret, activityDays: 1 })).catch((error: unknown) => {
      // The other account's key is of another secret.
      expect(`${error}`).not.toContain(`account ${filled}`);
    });
    expect(await rowsOf(one.root, filled)).toEqual(before);

    const errors: unknown[] = [];
    const log = { info: () => {}, error: (facts: unknown) => errors.push(facts) };
    await retain({ owner, activityDays: 1, log }, new AbortController().signal);
    expect(errors).toEqual([]);
  });

  test('without the row of the move, each would', async () => {
    const { one, filled } = cells;
    await one.root.query(`update account_move set state = 'copying' where account_id = $1`, [filled]);
    const found = await findWork(one, filled);
    expect(Math.min(...Object.values(found))).toBeGreaterThan(0);
    const waiting = await rowsOf(one.root, filled);
    await ask(one);
    const before = await rowsOf(one.root, filled);
    expect(before['destination_recipient']).not.toEqual(waiting['destination_recipient']);
    await collect(rollUp(one.writer));
    expect(await rowsOf(one.root, filled)).not.toEqual(before);
    for (const work of [
      () => alertRound(one.writer, { judgesStale: true }),
      () => logEnds(one.writer),
      () => collect(remindOfExpiry(owner)),
      () => recordPruned(owner),
    ])
      await expect(work(), `${work}`).rejects.toThrow(`There is no account ${filled}.`);
    await one.root.query(`update account_move set state = 'moved' where account_id = $1`, [filled]);
    await makeAllDue(one, filled);
  });

  test('a claim for one check waits', async () => {
    const { one, filled } = cells;
    const { rows } = await one.root.query(
      'select min(connection_id) as id from connection where account_id = $1',
      [filled],
    );
    const key = { accountId: filled, connectionId: Number(rows[0].id) };
    const claimed = claimConnection(one.writer, '0190b0a0-0000-7000-8000-00000000000b', key).then(
      () => 'claimed',
    );
    const waits = new Promise((resolve) => setTimeout(() => resolve('waits'), 1_000));
    expect(await Promise.race([claimed, waits])).toBe('waits');
    await one.root.query('delete from connection_schedule where account_id = $1', [filled]);
    await claimed;
  });
});
