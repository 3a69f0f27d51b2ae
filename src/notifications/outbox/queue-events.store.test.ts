import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { insertDestination } from '../destination-fixture.ts';
import type { NewEvent } from '../event.ts';
import { GROUP_MS, MOST_QUEUED, queueEvents } from './queue-events.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

function event(given: Partial<NewEvent> = {}): NewEvent {
  return {
    kind: 'ops.ticket_created',
    severity: 'warning',
    connection: { id: 7, name: 'orders', tags: ['env:production'] },
    data: { title: 'A table holds many dead rows' },
    details: {
      connection: null,
      title: 'A table holds many dead rows',
      check_id: null,
      database: '',
      object: null,
      metric_line: null,
      measured: null,
      since: null,
      remediation: null,
      resolution: null,
      page: PAGE_LINKS.ticket(1),
    },
    ...given,
  };
}

const queue = (accountId: number, events: NewEvent[]) =>
  changeAccount(store.writer, accountId, ({ client, at }) => queueEvents(client, { accountId, at }, events));

interface Queued {
  destination_id: number;
  sequence: number;
  kind: string;
  body: string;
  waits: number;
  state: string;
  is_logged: boolean;
}

async function queued(accountId: number): Promise<Queued[]> {
  const { rows } = await store.writer.query<Queued>(
    `select d.destination_id, d.sequence, e.kind, e.body, d.state, d.is_logged,
            round(extract(epoch from d.due_at - d.queued_at))::int as waits
       from delivery d join event e using (account_id, event_id)
      where account_id = $1 order by d.destination_id, d.sequence`,
    [accountId],
  );
  return rows;
}

describe('queueing', () => {
  test('an account without a destination gets no row', async () => {
    const accountId = await store.account();
    await queue(accountId, [event()]);
    expect(await queued(accountId)).toEqual([]);
    expect((await store.writer.query('select from event where account_id = $1', [accountId])).rowCount).toBe(
      0,
    );
  });

  test('who was told of a critical ticket or alert is told of its end, whatever its severity and its tags are by then', async () => {
    const accountId = await store.account();
    const minimum_severity = 'critical';
    const told = await insertDestination(store.writer, accountId, {
      minimum_severity,
      connection_names: ['tag:env:production'],
    });
    await queue(accountId, [
      event({ severity: 'critical', ticketId: 5 }),
      event({ kind: 'alert.triggered', severity: 'critical', alertId: 5 }),
      event({ ticketId: 6 }),
    ]);
    const later = await insertDestination(store.writer, accountId, { minimum_severity });
    await insertDestination(store.writer, accountId, { minimum_severity, kinds: ['ops.ticket_created'] });
    await queue(accountId, [
      event({ kind: 'ops.ticket_resolved', ticketId: 5, connection: { id: 7, name: 'orders', tags: [] } }),
      event({ kind: 'ops.ticket_resolved', ticketId: 6 }),
      event({ kind: 'ops.ticket_escalated', ticketId: 5 }),
      event({ kind: 'alert.resolved', alertId: 5 }),
      event({ kind: 'alert.resolved', alertId: 6 }),
    ]);
    const got = await queued(accountId);
    expect(got.map(({ destination_id, kind }) => [destination_id, kind])).toEqual([
      [told, 'ops.ticket_created'],
      [told, 'alert.triggered'],
      [told, 'ops.ticket_resolved'],
      [told, 'alert.resolved'],
    ]);
    expect(got.map(({ destination_id }) => destination_id)).not.toContain(later);
  });

  test('each destination that wants an event gets it, also one that is disabled', async () => {
    const accountId = await store.account();
    const all = await insertDestination(store.writer, accountId, { state: 'disabled' });
    const critical = await insertDestination(store.writer, accountId, { minimum_severity: 'critical' });
    const alerts = await insertDestination(store.writer, accountId, { kinds: ['alert.triggered'] });
    const other = await insertDestination(store.writer, accountId, { connection_ids: [8] });
    const named = await insertDestination(store.writer, accountId, {
      connection_ids: [8],
      connection_names: ['shop *', 'or*s'],
    });
    const tagged = await insertDestination(store.writer, accountId, {
      connection_names: ['tag:env:production'],
    });
    const elsewhere = await insertDestination(store.writer, accountId, {
      connection_names: ['tag:env:test'],
    });
    const chat = await insertDestination(store.writer, accountId, { channel: 'slack' });
    await queue(accountId, [
      event(),
      event({ severity: 'critical', connection: null }),
      event({ kind: 'alert.triggered', destinationIds: [all, alerts] }),
      event({ kind: 'health_check.completed', severity: 'info' }),
    ]);
    const got = Object.groupBy(await queued(accountId), ({ destination_id }) => destination_id);
    const kinds = (id: number) => (got[id] ?? []).map(({ kind }) => kind);
    expect(kinds(all)).toEqual(['ops.ticket_created', 'ops.ticket_created', 'alert.triggered']);
    expect(kinds(critical)).toEqual(['ops.ticket_created']);
    expect(kinds(alerts)).toEqual(['alert.triggered']);
    expect(kinds(other)).toEqual(['ops.ticket_created']);
    expect(kinds(named)).toEqual(['ops.ticket_created', 'ops.ticket_created']);
    expect(kinds(tagged)).toEqual(['ops.ticket_created', 'ops.ticket_created']);
    expect(kinds(elsewhere)).toEqual(['ops.ticket_created']);
    expect((got[chat] ?? []).map(({ waits }) => waits)).toEqual([GROUP_MS / 1000, 0]); // the second is critical
    expect((got[all] ?? []).map(({ waits, is_logged }) => [waits, is_logged])).toEqual([
      [0, false],
      [0, false],
      [0, false],
    ]);
  });

  test('a plan without tickets and alerts gets health checks only', async () => {
    const accountId = await store.account();
    await store.writer.query(
      `update account set plan = 'team', requests_per_minute = null where account_id = $1`,
      [accountId],
    );
    await insertDestination(store.writer, accountId, {
      kinds: ['health_check.completed', 'ops.ticket_created'],
    });
    await queue(accountId, [event(), event({ kind: 'health_check.completed' })]);
    expect((await queued(accountId)).map(({ kind, is_logged }) => [kind, is_logged])).toEqual([
      ['health_check.completed', true],
    ]);
  });

  test('numbers have no gap: with many changes at once, and when some are rolled back', async () => {
    const accountId = await store.account();
    const ids = [
      await insertDestination(store.writer, accountId),
      await insertDestination(store.writer, accountId),
    ];
    const failing = () =>
      changeAccount(store.writer, accountId, async ({ client, at }) => {
        await queueEvents(client, { accountId, at }, [event(), event()]);
        throw new Error('rolled back');
      }).catch(() => {});
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 3 === 0 ? failing() : queue(accountId, [event(), event()]))),
    );
    const rows = await queued(accountId);
    for (const id of ids) {
      const numbers = rows
        .filter(({ destination_id }) => destination_id === id)
        .map(({ sequence }) => sequence);
      expect(numbers).toEqual(Array.from({ length: 26 }, (_, n) => n + 1));
    }
    const { rows: queues } = await store.writer.query(
      'select last_sequence, queued from destination_queue where account_id = $1',
      [accountId],
    );
    expect(queues).toEqual([
      { last_sequence: 26, queued: 26 },
      { last_sequence: 26, queued: 26 },
    ]);
  });

  test('beyond 10,000 queued deliveries, only completed health checks are dropped and counted', async () => {
    const accountId = await store.account();
    await insertDestination(store.writer, accountId, {
      kinds: ['health_check.completed', 'ops.ticket_created'],
    });
    await store.writer.query('update destination_queue set queued = $2 where account_id = $1', [
      accountId,
      MOST_QUEUED,
    ]);
    await queue(accountId, [event({ kind: 'health_check.completed' }), event()]);
    expect((await queued(accountId)).map(({ kind, sequence }) => [kind, sequence])).toEqual([
      ['ops.ticket_created', 1],
    ]);
    const { rows } = await store.writer.query(
      'select queued, dropped, due_at is not null as due from destination_queue where account_id = $1',
      [accountId],
    );
    expect(rows).toEqual([{ queued: MOST_QUEUED + 1, dropped: 1, due: true }]);
    expect((await store.writer.query('select from event where account_id = $1', [accountId])).rowCount).toBe(
      1,
    );
  });

  test('names of a hostile account reach the body as text', async () => {
    const accountId = await store.account();
    await insertDestination(store.writer, accountId);
    const title = `"}'); drop table event; -- \u0000\n<!channel>`;
    await queue(accountId, [
      event({ data: { title }, details: { ...event().details, title: `${title}\ud800` } }),
    ]);
    const [row] = await queued(accountId);
    expect(JSON.parse(row?.body ?? '').data.title).toBe(title);
  });
});
