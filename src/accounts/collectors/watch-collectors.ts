import type pg from 'pg';
import type { Logger } from 'pino';
import { eachAccount } from '../../activity/each-account.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import type { NewEvent } from '../../notifications/event.ts';
import { queueEvents } from '../../notifications/outbox/queue-events.ts';
import { type Rounds, startRounds } from '../../platform/rounds.ts';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import { isHeard } from '../../store/sql/collector-contact.sql.ts';
import { errorFields } from '../../store/store-failure.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';

const isSilent = `not ${isHeard('c')}`;

/** One that was back for less than ten minutes may come and go: it is told of again only after a longer silence. */
const RECENTLY = "interval '10 min'";
const LONG_SILENCE_SECONDS = 180;

// One that measures nothing may be switched off.
const changed = `
  c.revoked_at is null and c.enrolled_at is not null
  and (c.silent_at is null and ${isSilent}
       and (coalesce(c.returned_at < now() - ${RECENTLY}, true) or not ${isHeard('c', LONG_SILENCE_SECONDS)})
       and exists (select from collected_connection m
                    where m.account_id = c.account_id and m.collector_id = c.collector_id)
       or c.silent_at is not null and ${isHeard('c')})`;

const selectAccounts = `
  select distinct c.account_id
    from collector c
   where ${changed} and ${mayStartWork('c.account_id')}
   order by c.account_id`;

const mark = `
  with seen as materialized (
    select c.account_id, c.collector_id, c.silent_at is null as falls, c.silent_at
      from collector c
     where c.account_id = $1 and ${changed}
       for update
  )
  update collector c
     set silent_at = case when seen.falls then $2::timestamptz end,
         returned_at = case when seen.falls then c.returned_at else $2::timestamptz end
    from seen
   where c.account_id = seen.account_id and c.collector_id = seen.collector_id
  returning c.collector_id as id, c.name, c.last_contact_at, seen.falls, seen.silent_at as "silentAt",
            (select count(*)::int from collected_connection m
              where m.account_id = c.account_id and m.collector_id = c.collector_id) as connections`;

interface ChangedCollector {
  id: number;
  name: string;
  last_contact_at: Date;
  /** Whether it fell silent; otherwise it is back. */
  falls: boolean;
  /** When it fell silent, if it is back. */
  silentAt: Date | null;
  connections: number;
}

/**
 * Records once that a collector fell silent, and once that it is back, in the log of its account, and tells the destinations of alerts:
 * one message for all of its connections. Any number of processes may do so.
 * One account's failure does not keep the others from their entries: it is thrown after them.
 */
export async function recordSilence(writer: pg.Pool): Promise<void> {
  const { rows: accounts } = await writer.query<{ account_id: number }>(selectAccounts);
  const ids = accounts.map(({ account_id }) => account_id);
  await eachAccount(ids, (accountId) =>
    changeAccount(writer, accountId, async ({ client, at, record }) => {
      const { rows } = await client.query<ChangedCollector>(mark, [accountId, at]);
      for (const { id, name, last_contact_at, falls, connections } of rows) {
        if (falls)
          record('collector_silent', '/collectors', { collector_id: id, name, last_contact_at, connections });
        else record('collector_returned', '/collectors', { collector_id: id, name });
      }
      await queueEvents(client, { accountId, at }, rows.map(toEvent));
    }),
  );
}

function toEvent({ id, name, last_contact_at, falls, silentAt, connections }: ChangedCollector): NewEvent {
  const nothing = { connection: null, check_id: null, database: '', object: null, measured: null };
  const many = connections === 1 ? '1 connection is' : `${connections} connections are`;
  return {
    kind: falls ? 'collector.silent' : 'collector.returned',
    severity: 'critical',
    connection: null,
    data: { collector_id: id, name, connections, last_contact_at },
    details: {
      ...nothing,
      title: `Collector ${name} is silent`,
      metric_line: falls ? `${many} not measured.` : null,
      since: (falls ? last_contact_at : (silentAt ?? last_contact_at)).toISOString(),
      resolution: falls ? null : 'the collector is heard of again',
      page: PAGE_LINKS.collector(id),
      remediation: falls ? REMEDIATION : null,
    },
  };
}

const REMEDIATION =
  'See whether "dbvitals collect" runs there and reaches the service: its log says why not, and so does "dbvitals doctor --collector" there.';

const EVERY_MS = 15_000;

/** After a start or an outage of the store, collectors get so long to be heard: they ask again at least every 30 s. */
const CATCH_UP_MS = 90_000;

/** Watches the contact of collectors. What stands still with this process, or with the store, is not taken for their silence. */
export function startCollectorWatch(
  writer: pg.Pool,
  log: Pick<Logger, 'error' | 'isLevelEnabled'>,
  times = { first: EVERY_MS, every: EVERY_MS, catchUp: CATCH_UP_MS },
): Rounds {
  let steadySince = performance.now();
  let previous = steadySince;
  return startRounds(async () => {
    const now = performance.now();
    if (now - previous > times.first + 3 * times.every) steadySince = now;
    previous = now;
    if (now - steadySince < times.catchUp) return;
    try {
      await recordSilence(writer);
    } catch (error) {
      steadySince = performance.now();
      log.error(errorFields(error, log), 'collectors could not be looked at; a later round tries again');
    }
  }, times);
}

const selectSilent = `
  select c.account_id, c.name
    from collector c
   where c.revoked_at is null and c.enrolled_at is not null and ${isSilent}
     and exists (select from collected_connection m where m.account_id = c.account_id and m.collector_id = c.collector_id)
   order by c.account_id, c.collector_id`;

/** The collectors that should measure, and were not heard of for a minute. */
export async function listSilent(writer: pg.Pool): Promise<{ account_id: number; name: string }[]> {
  return (await writer.query<{ account_id: number; name: string }>(selectSilent)).rows;
}

const figures = `
  select count(*) filter (where ${isSilent})::int as "collectorsSilent",
         coalesce(max(extract(epoch from now() - c.last_contact_at)), 0)::float8 as "collectorsLongestSilence",
         coalesce(sum(c.buffered), 0)::float8 as "collectorsBuffered"
    from collector c
   where c.revoked_at is null and c.enrolled_at is not null
     and exists (select from collected_connection m where m.account_id = c.account_id and m.collector_id = c.collector_id)`;

/** The figures of all collectors of a store that should measure, for metrics. */
export async function collectorFigures(
  writer: pg.Pool,
): Promise<{ collectorsSilent: number; collectorsLongestSilence: number; collectorsBuffered: number }> {
  const nothing = { collectorsSilent: 0, collectorsLongestSilence: 0, collectorsBuffered: 0 };
  return (await writer.query<typeof nothing>(figures)).rows[0] ?? nothing;
}
