import { Seen } from '../fault.ts';
import type { NotifiedStage } from './notified-stage.ts';

interface Stored {
  destination_id: number;
  delivery_id: number;
  event_id: string;
  sequence: number;
  state: string;
}

/**
 * Compares what was queued with what the receiver got and with the accounts' logs. `expected` is the number of events that
 * were queued for the receiver.
 */
export async function judgeDeliveries(stage: NotifiedStage, expected: number): Promise<Seen> {
  const { got } = stage.receiver;
  const stored = await stage.query<Stored>(
    `select v.destination_id, v.delivery_id, v.event_id, v.sequence, v.state
       from delivery v join destination d using (account_id, destination_id)
      where d.target = $1`,
    [stage.receiver.url],
  );
  const accepted = new Set(got.map(({ id }) => id));
  const [log] = await stage.query<{ wrong: number }>(
    `select count(*)::int as wrong
       from delivery v join destination using (account_id, destination_id)
      where target = $1
        and (select count(*) from activity a
              where a.account_id = v.account_id
                and a.action_type = 'delivery_accepted'
                and (a.properties ->> 'delivery_id')::bigint = v.delivery_id) <> 1`,
    [stage.receiver.url],
  );
  const idsOf = Map.groupBy(got, ({ path, sequence }) => `${path} ${sequence}`);
  const otherIds = [...idsOf.values()].filter((same) => new Set(same.map(({ id }) => id)).size > 1);
  const gaps = [...Map.groupBy(got, ({ path }) => path).values()].filter((of) => {
    const sequences = new Set(of.map(({ sequence }) => sequence));
    return sequences.size !== Math.max(...sequences) || Math.min(...sequences) !== 1;
  });
  return new Seen()
    .holds(`${stored.length} of ${expected} queued`, stored.length === expected)
    .none(stored.filter(({ event_id }) => !accepted.has(event_id)).length, 'events lost')
    .none(stored.filter(({ state }) => state !== 'accepted').length, 'not accepted')
    .none(otherIds.length, 'duplicates with another webhook-id')
    .none(gaps.length, 'receivers with a gap in the sequence')
    .none(log?.wrong ?? -1, 'deliveries without exactly one entry in the log')
    .atMost(got.length - accepted.size, expected, 'duplicates');
}
