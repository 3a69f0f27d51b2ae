import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { selectKeys, selectWindows } from '../../../accounts/keys/list-keys.sql.ts';
import { changeAccount } from '../../../activity/record-entry.ts';
import { listOpenAlerts } from '../../../notifications/alerts/list-alerts.ts';
import { listDeliveries } from '../../../notifications/deliveries/list-deliveries.ts';
import { insertDestination } from '../../../notifications/destination-fixture.ts';
import { newEvent } from '../../../notifications/dispatch/dispatcher-fixture.ts';
import { listMaintenance } from '../../../notifications/maintenance/list-maintenance.ts';
import { queueEvents } from '../../../notifications/outbox/queue-events.ts';
import { openedInMaintenance } from '../../../notifications/run-events/notify-run.ts';
import { readRunWatch } from '../../../notifications/run-events/run-watch.ts';
import { listRuns } from '../../../runs/list-runs.ts';
import { recordCheck } from '../../../runs/record-check.ts';
import { silencesOfAccount } from '../../../tickets/silences/list-silences.ts';
import { listComments } from '../../../tickets/triage/list-comments.ts';
import { within } from '../../read.ts';
import { moveAccount } from './move-account.ts';
import { addSmallAccount, type CellStore, startTwoCells, type TwoCells } from './move-fixture.ts';
import { forgetCopies } from './undo/undo-move.ts';

let cells: TwoCells;
beforeAll(async () => {
  cells = await startTwoCells();
});
afterAll(() => cells.stop());

/** Moves an account to cell 2, lets `work` add to it there, and moves it back. */
async function visitCellTwo<T>(accountId: number, work: () => Promise<T>): Promise<T> {
  await moveAccount(cells.parts, accountId, 2);
  const result = await work();
  await forgetCopies(cells.parts, accountId);
  await moveAccount(cells.parts, accountId, 1);
  return result;
}

async function idOf(root: pg.Client, statement: string, accountId: number): Promise<number> {
  const { rows } = await root.query<{ id: number }>(statement, [accountId]);
  return Number(rows[0]?.id);
}

async function addAccount() {
  const accountId = await addSmallAccount(cells, 20);
  const { root, writer } = cells.one;
  const connectionId = await idOf(
    root,
    'select connection_id as id from connection where account_id = $1',
    accountId,
  );
  return { accountId, connectionId, destinationId: await insertDestination(writer, accountId) };
}

/** Stores a run, and sends an alert. Returns the ids of both, and what the run knew of those before it. */
async function run(
  { writer }: CellStore,
  { accountId, connectionId, destinationId }: Awaited<ReturnType<typeof addAccount>>,
  inMaintenance = false,
) {
  return changeAccount(writer, accountId, async ({ client, at }) => {
    const scope = { accountId, connectionId, at };
    const watch = await readRunWatch(client, scope);
    const opened = await openedInMaintenance(client, scope, watch);
    await queueEvents(client, scope, [newEvent()]);
    const [delivery] = await listDeliveries(within(client), accountId, destinationId, { limit: 1 });
    const cost = { milliseconds: 1, statements: 1, bytes: 1 };
    const stored = await recordCheck(client, {
      ...scope,
      score: 90,
      summaryText: 'run',
      findings: [],
      cost,
      inMaintenance,
    });
    return { id: stored.id, at: stored.created_at, deliveryId: delivery?.id, opened, watch };
  });
}

test('a run after the return is the newest one: in lists, for alerts, and after maintenance', async () => {
  const account = await addAccount();
  const { accountId, connectionId, destinationId } = account;
  const elsewhere = await visitCellTwo(accountId, () => run(cells.two, account));
  await cells.one.root.query(
    `insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line, remediation,
                         first_seen_at, last_seen_at, number, connection_number)
     values ($1, $2, 'PG_TEST', 'table 301', 'schema', 'Test', 'warning', 'open', 'm', 'r', now(), now(), 301, 301)`,
    [accountId, connectionId],
  );
  const first = await run(cells.one, account);
  expect(first.id).toBeLessThan(elsewhere.id);
  const during = await run(cells.one, account, true);
  const last = await run(cells.one, account);

  expect(new Date(during.watch.previous_run_at ?? '')).toEqual(first.at);
  expect(last.opened).toEqual([]);
  const read = within(cells.one.root);
  const newest = await listRuns(read, accountId, connectionId, { before: null, limit: 2 });
  const older = await listRuns(read, accountId, connectionId, { before: during.id, limit: 2 });
  expect([...newest, ...older].map(({ id }) => id)).toEqual([last.id, during.id, first.id, elsewhere.id]);
  const [before] = await listRuns(read, accountId, connectionId, { before: elsewhere.id, limit: 1 });
  expect(before?.id).toBeLessThan(first.id);

  const sent = await listDeliveries(read, accountId, destinationId, { limit: 2 });
  const earlier = await listDeliveries(read, accountId, destinationId, {
    before: sent[1]?.id ?? 0,
    limit: 3,
  });
  expect([...sent, ...earlier].map(({ id }) => id)).toEqual(
    [last, during, first, elsewhere].map(({ deliveryId }) => deliveryId),
  );
});

const addOne = `
  with connection as (
    select account_id, connection_id from connection where account_id = $1
  ), key as (
    insert into api_key (account_id, name, hash, last_four, created_at)
    select account_id, $2, sha256(($1 || $2)::bytea), 'abcd', clock_timestamp() from connection
    returning account_id, api_key_id
  ), key_window as (
    insert into key_window (account_id, api_key_id, started_at, used) select account_id, api_key_id, now(), 1 from key
  ), silence as (
    insert into silence (account_id, connection_id, check_id, reason, note, created_at)
    select account_id, connection_id, 'PG_TEST', 'wont_fix', $2, clock_timestamp() from connection
  ), ticket as (
    select account_id, min(ticket_id) as ticket_id from ticket where account_id = $1 group by 1
  ), comment as (
    insert into ticket_comment (account_id, ticket_id, author, body, created_at)
    select account_id, ticket_id, 'Ada', $2, clock_timestamp() from ticket
  ), rule as (
    insert into alert_rule (account_id, name, metric, operator, threshold, severity, created_at)
    select account_id, $2, 'score', '<', 50, 'critical', clock_timestamp() from connection
    returning account_id, rule_id
  ), alert as (
    insert into alert (account_id, rule_id, connection_id, state, since, metric, operator, threshold, value, details, severity,
                       triggered_at)
    select account_id, rule_id, connection_id, 'open', now(), 'score', '<', 50, 40, '{}', 'critical', clock_timestamp()
      from connection join rule using (account_id)
  )
  insert into maintenance (account_id, name, starts_at, ends_at, created_by, created_at, removed_at)
  select account_id, $2, now() - interval '1 h', now() - interval '1 min', 'Ada', clock_timestamp(), null
    from connection, generate_series(1, $3::int)`;

test('keys, silences, comments, alerts and windows of after the return are the newest', async () => {
  const { accountId } = await addAccount();
  const { one, two } = cells;
  await one.root.query(addOne, [accountId, 'here', 0]);
  await visitCellTwo(accountId, () => two.root.query(addOne, [accountId, 'elsewhere', 50]));
  await one.root.query(addOne, [accountId, 'returned', 1]);

  const read = within(one.root);
  const ticketId = await idOf(
    one.root,
    'select min(ticket_id) as id from ticket where account_id = $1',
    accountId,
  );
  const names = async (statement: string, values: unknown[]) =>
    (await read<{ name: string; note: string }>(statement, values)).map(({ name, note }) => note ?? name);
  const newestFirst = ['returned', 'elsewhere', 'here'];
  expect((await names(selectKeys, [accountId, 100, false])).slice(0, 3)).toEqual(newestFirst);
  const windows = await read<{ id: number }>(selectWindows, [accountId]);
  const keys = await read<{ id: number }>(selectKeys, [accountId, 100, false]);
  expect(windows.map(({ id }) => id)).toEqual(keys.map(({ id }) => id));
  expect(await names(silencesOfAccount, [accountId, 10])).toEqual(newestFirst);
  expect((await listComments(read, accountId, ticketId)).map(({ body }) => body)).toEqual(
    newestFirst.toReversed(),
  );
  expect((await listOpenAlerts(read, accountId)).map(({ rule_name }) => rule_name)).toEqual(newestFirst);
  const past = await listMaintenance(read, accountId);
  expect(past.filter(({ name }) => name === 'returned')).toHaveLength(1);
  expect(past).toHaveLength(50);
});
