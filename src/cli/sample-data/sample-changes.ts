import type { NewChange } from '../../runs/changes/connection-change.ts';
import { ENGINE_NAMES } from '../../vocabulary/engines.ts';
import { type SampleConnection, sampleVersion } from './sample-connection.ts';
import type { History } from './sample-fleet.ts';
import type { Incident } from './sample-incidents.ts';
import { randomNumber } from './sample-random.ts';
import { toTimestamp } from './sample-target.ts';
import { tableName } from './sample-tickets.ts';

const MINUTE_US = 60_000_000;
const DAY_US = 1_440 * MINUTE_US;
/** The most tickets of a connection with changes: the newest. */
const MOST_INCIDENTS = 100;

type Cause = Partial<NewChange> & Pick<NewChange, 'kind' | 'subject'>;

/** What somebody changed shortly before a fault, by its check. `{table}` is the fault's table. */
const CAUSES: Readonly<Record<string, Cause>> = {
  PG_LONG_QUERY: {
    kind: 'index',
    database: 'app',
    subject: 'public.{table}_created_at_idx',
    before: 'CREATE INDEX {table}_created_at_idx ON public.{table} USING btree (created_at)',
  },
  PG_DEAD_TUPLES: {
    kind: 'setting',
    subject: 'autovacuum_vacuum_scale_factor',
    before: '0.2',
    after: '0.5',
    source: 'ALTER SYSTEM',
  },
  PG_CONN_SATURATION: {
    kind: 'setting',
    subject: 'idle_session_timeout',
    before: '10min',
    after: '0',
    source: 'ALTER SYSTEM',
  },
  PG_NO_PRIMARY_KEY: { kind: 'table', database: 'app', subject: 'public.{table}', after: 'table' },
  MY_CONN_SATURATION: { kind: 'setting', subject: 'wait_timeout', before: '600', after: '28800' },
  MY_LONG_TRX: { kind: 'setting', subject: 'innodb_lock_wait_timeout', before: '50', after: '600' },
};

/** The changes of a connection, in order of time: its findings, what caused some of them, and an update of the server. */
export function makeChanges(
  connection: SampleConnection,
  { incidents, history: { start, end } }: { incidents: readonly Incident[]; history: History },
): object[] {
  const { seed, engine } = connection;
  const { before, text: after } = sampleVersion(connection);
  const updated = start + Math.round((0.3 + 0.4 * randomNumber(seed + 77)) * (end - start));
  const night = updated - (updated % DAY_US) + 190 * MINUTE_US; // 03:10 UTC
  const update = [
    toChange(night, { kind: 'version', subject: ENGINE_NAMES[engine], before, after }),
    toChange(night, { kind: 'restart', subject: 'server' }),
  ];
  return [...update, ...incidents.slice(-MOST_INCIDENTS).flatMap(changesAround)]
    .filter(({ at }) => at >= start && at <= end)
    .toSorted((a, b) => a.at - b.at)
    .map((change) => ({ ...change, at: toTimestamp(change.at) }));
}

function toChange(at: number, change: Cause): NewChange & { at: number } {
  return { at: Math.round(at), database: '', before: null, after: null, source: null, ...change };
}

/** The finding that came and went, and what somebody changed 50 minutes before. */
function changesAround({ ticket, opened, resolved, finding }: Incident): (NewChange & { at: number })[] {
  const { title, database, object, severity } = finding;
  const subject = object === null ? title : `${title}: ${object}`;
  const changes = [toChange(opened * 1e6, { kind: 'finding', database, subject, after: severity })];
  if (resolved !== null) {
    changes.push(toChange(resolved * 1e6, { kind: 'finding', database, subject, before: severity }));
  }
  const cause = CAUSES[ticket.fault.checkId];
  if (cause === undefined) return changes;
  const table = tableName(ticket.table);
  const texts = Object.entries(cause).map(([name, text]) => [name, text?.replaceAll('{table}', table)]);
  return [toChange((opened - 50 * 60) * 1e6, Object.fromEntries(texts)), ...changes];
}
