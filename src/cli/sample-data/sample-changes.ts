import type { NewChange } from '../../runs/changes/connection-change.ts';
import type { SampleConnection } from './sample-connection.ts';
import type { History } from './sample-fleet.ts';
import type { Incident } from './sample-incidents.ts';
import { randomNumber } from './sample-random.ts';
import { tableName } from './sample-tickets.ts';

const MINUTE_US = 60_000_000;
const DAY_US = 1_440 * MINUTE_US;
/** The most tickets of a connection with changes: the newest. */
const MOST_INCIDENTS = 100;

/** A change of sample data; `at` is in microseconds since 1970. */
type SampleChange = NewChange & { at: number };

/** The changes of a connection, in order of time: its findings, what caused some of them, and an update of the server. */
export function changesOf(
  { seed, engine }: SampleConnection,
  { incidents, history: { start, end } }: { incidents: readonly Incident[]; history: History },
): SampleChange[] {
  const updated = start + Math.round((0.3 + 0.4 * randomNumber(seed + 77)) * (end - start));
  const night = updated - (updated % DAY_US) + 190 * MINUTE_US; // 03:10 UTC
  const [subject, before, after] =
    engine === 'mysql' ? ['MySQL', '8.4.8', '8.4.9'] : ['PostgreSQL', '18.5', '18.6'];
  const update: SampleChange[] = [
    change(night, { kind: 'version', subject, before, after }),
    change(night, { kind: 'restart', subject: 'server' }),
  ];
  return [
    ...update,
    ...incidents.slice(-MOST_INCIDENTS).flatMap((incident) => changesAround(incident, engine)),
  ]
    .filter(({ at }) => at >= start && at <= end)
    .toSorted((a, b) => a.at - b.at);
}

function change(at: number, given: Partial<NewChange> & Pick<NewChange, 'kind' | 'subject'>): SampleChange {
  return { at: Math.round(at), database: '', before: null, after: null, source: null, ...given };
}

/** The finding that came and went, and what somebody changed shortly before. */
function changesAround(
  { ticket, opened, resolved, finding: { title, database, object, severity } }: Incident,
  engine: SampleConnection['engine'],
): SampleChange[] {
  const subject = object === null ? title : `${title}: ${object}`;
  const found = change(opened * 1e6, { kind: 'finding', database, subject, after: severity });
  const gone = change((resolved ?? Infinity) * 1e6, { kind: 'finding', database, subject, before: severity });
  const table = tableName(ticket.table);
  const at = (opened - 50 * 60) * 1e6;
  const cause = CAUSES[ticket.fault.checkId]?.(table, engine);
  return [...(cause ? [change(at, cause)] : []), found, ...(resolved === null ? [] : [gone])];
}

const CAUSES: Readonly<
  Record<
    string,
    (
      table: string,
      engine: SampleConnection['engine'],
    ) => Partial<NewChange> & Pick<NewChange, 'kind' | 'subject'>
  >
> = {
  PG_LONG_QUERY: (table) => ({
    kind: 'index',
    database: 'app',
    subject: `public.${table}_created_at_idx`,
    before: `CREATE INDEX ${table}_created_at_idx ON public.${table} USING btree (created_at)`,
  }),
  PG_DEAD_TUPLES: () => ({
    kind: 'setting',
    subject: 'autovacuum_vacuum_scale_factor',
    before: '0.2',
    after: '0.5',
    source: 'ALTER SYSTEM',
  }),
  PG_CONN_SATURATION: () => ({
    kind: 'setting',
    subject: 'idle_session_timeout',
    before: '10min',
    after: '0',
    source: 'ALTER SYSTEM',
  }),
  PG_NO_PRIMARY_KEY: (table) => ({
    kind: 'table',
    database: 'app',
    subject: `public.${table}`,
    after: 'table',
  }),
  MY_CONN_SATURATION: () => ({ kind: 'setting', subject: 'wait_timeout', before: '600', after: '28800' }),
  MY_LONG_TRX: () => ({
    kind: 'setting',
    subject: 'innodb_lock_wait_timeout',
    before: '50',
    after: '600',
  }),
};
