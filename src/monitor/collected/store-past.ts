import type pg from 'pg';
import type { OwnCheck } from '../../checks/own/own-check.ts';
import { score, summaryText, worstFirst } from '../../checks/score.ts';
import { ownChecksOfConnection } from '../../connections/own-checks/list-own-checks.ts';
import { readRunWatch } from '../../notifications/run-events/run-watch.ts';
import { reopenRolled } from '../../runs/measures/reopen-rolled.ts';
import { prepareMeasures, storePastMeasures } from '../../runs/measures/store-measures.ts';
import { recordPastCheck } from '../../runs/record-check.ts';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import { inTransaction } from '../../store/connect.ts';
import { readSilences, silenceOutcomes } from '../../tickets/silences/run-silences.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import type { ConnectionKey, MonitorDeps } from '../monitor-deps.ts';
import { acceptMeasured, type ReportedMeasured } from './accept-measured.ts';
import type { CollectorKey } from './claim-collected.ts';

/** What a collector measured while the service was away. */
export interface PastResult {
  /** The name of the connection in the collector's file. */
  connection: string;
  /** When it was measured, by the collector's clock: milliseconds since 1970. */
  at: number;
  measured: ReportedMeasured;
}

/** What became of a past result: `known` = it was stored before, `unwanted` = it is too old, too many, or of no connection. */
export type PastOutcome = 'stored' | 'known' | 'unwanted' | 'moving';

/** A collector keeps results for 24 h, and needs some time to deliver them. */
const OLDEST_MS = 25 * 3_600_000;

const find = `
  select m.account_id as "accountId", m.connection_id as "connectionId", c.engine, ${ownChecksOfConnection} as own
    from collected_connection m
    join connection c using (account_id, connection_id)
   where m.account_id = $1 and m.collector_id = $2 and m.name = $3 and c.removed_at is null`;

// A collector delivers in the order of measurement, so what is not newer than the last one was stored before. Runs that were judged have
// times of their own, because the newest of them comes before older results. A result needs half an interval to the one before it: a
// hostile collector can't store more than twice of what an honest one does.
const lock = `
  select case when not ${mayStartWork('m.account_id')} then 'moving'
              when $4::bigint <= m.past_at_ms or $4::bigint = any (m.judged_at_ms) then 'known'
              when $4::bigint < m.past_at_ms + extract(epoch from s.every) * 500 then 'unwanted'
              else 'stored' end as outcome,
         (now() - make_interval(secs => $5::float8))::text as at
    from collected_connection m
    join collector o using (account_id, collector_id)
    join connection c using (account_id, connection_id)
    join connection_schedule s using (account_id, connection_id)
   where m.account_id = $1 and m.connection_id = $2 and m.collector_id = $3
     and o.revoked_at is null and c.removed_at is null
     for update of m`;

const moveOn = `
  update collected_connection set past_at_ms = $3 where account_id = $1 and connection_id = $2`;

type StoreDeps = Pick<MonitorDeps, 'writer'>;

/**
 * Stores a past result of a collector as history: a run with its findings, and its measures, at the time of measurement. It judges no
 * ticket, tells nobody and is not the latest run, because the fault may be long gone: the run that follows the return judges.
 * `sentAt` is when the collector sent it, by its clock in milliseconds.
 */
export async function storePast(
  { writer }: StoreDeps,
  collector: CollectorKey,
  { connection, at, measured: reported }: PastResult,
  sentAt: number,
): Promise<PastOutcome> {
  const age = sentAt - at;
  if (age < 0 || age > OLDEST_MS) return 'unwanted';
  const { rows } = await writer.query<ConnectionKey & { engine: Engine; own: OwnCheck[] }>(find, [
    collector.accountId,
    collector.collectorId,
    connection,
  ]);
  const [known] = rows;
  if (!known) return 'unwanted';
  const { engine, own, ...key } = known;
  const measured = acceptMeasured(engine, reported, { queryTexts: false, own });
  const prepared = await prepareMeasures(writer, key, measured.measures);
  return inTransaction(writer, async (client) => {
    const place = [key.accountId, key.connectionId];
    const values = [...place, collector.collectorId, at, age / 1_000];
    const [row] = (await client.query<{ outcome: PastOutcome; at: string }>(lock, values)).rows;
    if (row?.outcome !== 'stored') return row?.outcome ?? 'unwanted';
    await client.query(moveOn, [...place, at]);
    const scope = { ...key, at: row.at };
    await recordHistory(client, scope, measured);
    await reopenRolled(client, scope);
    await storePastMeasures(client, scope, prepared);
    return 'stored';
  });
}

async function recordHistory(
  client: pg.ClientBase,
  scope: ConnectionKey & { at: string },
  { outcomes: all, cost }: ReturnType<typeof acceptMeasured>,
): Promise<void> {
  const { active } = await readSilences(client, scope);
  const { isInMaintenance } = await readRunWatch(client, scope);
  const outcomes = silenceOutcomes(all, active);
  await recordPastCheck(client, {
    ...scope,
    score: score(outcomes, []),
    summaryText: summaryText(outcomes),
    findings: worstFirst(outcomes),
    cost,
    inMaintenance: isInMaintenance,
  });
}
