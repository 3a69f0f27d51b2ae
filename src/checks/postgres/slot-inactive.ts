import type { Check, Fault, Judgement, Row, ServerFacts } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn, textOrNone } from '../columns.ts';
import type { Measure } from '../measure.ts';
import { counted, duration, size } from '../wording.ts';
import { atLeast, faultMeasure, uncompared, worstOf } from '../worst-measures.ts';
import { slotSteps } from './slot-steps.ts';

/** Seconds without a consumer; dbvitals' own: longer than a restart takes, shorter than a disk takes to fill. */
const thresholds = { warning_seconds: 30 * 60 };

// Before 17 the server does not show since when. Slots that a standby synchronizes (17) are never active. Without a
// limit (-1) `most` is null; wal_keep_size may keep more than the limit says.
const sql = (version: number) => `
  select case when bound.bytes >= 0
                then greatest(bound.bytes, pg_size_bytes(current_setting('wal_keep_size')), 1024 * 1024)
         end::float8 as most,
         slot.*
    from (select pg_size_bytes(current_setting('max_slot_wal_keep_size')) as bytes) bound
    left join (
      select slot_name::text as slot,
             active,
             coalesce(wal_status = 'lost', false) as lost,
             restart_lsn::text as restart_lsn,
             pg_wal_lsn_diff(now.lsn, restart_lsn)::float8 as kept,
             ${version < 170_000 ? 'null::float8' : 'extract(epoch from clock_timestamp() - inactive_since)::float8'} as age
        from pg_replication_slots
        cross join (
          select case when pg_is_in_recovery() then greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
                      else pg_current_wal_lsn()
                  end as lsn
        ) now
       where not temporary
         ${version < 170_000 ? '' : 'and not (synced and pg_is_in_recovery())'}
       order by lost desc, active, kept desc nulls last, slot_name
       limit ${FAULT_LIMIT + 1}
    ) slot on true`;

/** Slots without a consumer: each keeps WAL until the disk is full or the slot is lost. */
export const slotInactive: Check<typeof thresholds> = {
  id: 'PG_SLOT_INACTIVE',
  title: 'Replication slot without a consumer',
  category: 'replication',
  maxSeverity: 'critical',
  volatile: false,
  scope: 'server',
  comparesRuns: true,
  thresholds,
  sql,
  judge: (rows, facts) => {
    onlyRow(rows.slice(0, 1));
    const slots = rows.filter(({ slot }) => slot !== null).slice(0, FAULT_LIMIT);
    const faults = slots.flatMap((row) => fault(row, facts) ?? []);
    const judgement: Judgement = {
      faults,
      passMessage:
        slots.length === 0 ? 'There is no replication slot.' : `${counted(slots.length, 'slot')} in use.`,
      measures: measures(slots, facts),
      truncated: rows.length > FAULT_LIMIT,
    };
    const unknown = slots.some(
      (row) => row['active'] !== true && row['lost'] !== true && idleFor(row, facts) === undefined,
    );
    if (!unknown) return judgement;
    if (faults.length > 0) return { ...judgement, truncated: true };
    const skipped =
      'Not measured: before PostgreSQL 17 it needs two runs to know how long a slot has had no consumer.';
    return { skipped };
  },
};

function fault(row: Row, facts: ServerFacts<typeof thresholds>): Fault | null {
  const slot = textIn(row, 'slot');
  const { warning_seconds } = facts.thresholds;
  const remediation = slotSteps(slot);
  if (row['lost'] === true) {
    const metricLine = `Slot ${slot} has lost WAL that its consumer needs; drop the slot, and rebuild its consumer.`;
    return { severity: 'critical', object: slot, metricLine, remediation };
  }
  const idle = row['active'] === true ? undefined : idleFor(row, facts);
  if (idle === undefined) return null;
  if (facts.version >= 170_000 && idle < warning_seconds) return null;
  const kept = typeof row['kept'] === 'number' ? ` and keeps ${size(numberIn(row, 'kept'))} of WAL` : '';
  return {
    severity: 'warning',
    object: slot,
    metricLine: `Slot ${slot} has had no consumer for ${duration(idle)}${kept}; start its consumer again, or drop the slot.`,
    remediation,
    ...(facts.version >= 170_000 && { measured: faultMeasure(idleMeasure(row, idle, facts)) }),
  };
}

function measures(slots: Row[], facts: ServerFacts<typeof thresholds>): Measure[] {
  const idle = slots.flatMap((row) => {
    const seconds = row['active'] === true ? 0 : idleFor(row, facts);
    return seconds === undefined ? [] : [idleMeasure(row, seconds, facts)];
  });
  const kept = slots
    .filter((row) => typeof row['kept'] === 'number')
    .map(
      (row): Measure => ({
        ...uncompared('slot_wal_bytes'),
        object: textIn(row, 'slot'),
        value: Math.max(0, numberIn(row, 'kept')),
        limit: row['most'] === null ? null : numberIn(row, 'most'),
        grows: true,
      }),
    );
  return [...worstOf(idle), ...worstOf(kept)];
}

// Before 17 any two runs without a consumer are a fault: the time between them is compared with nothing.
function idleMeasure(row: Row, value: number, facts: ServerFacts<typeof thresholds>): Measure {
  const metric = 'slot_inactive_seconds';
  const { warning_seconds } = facts.thresholds;
  const scale = facts.version >= 170_000 ? atLeast(metric, warning_seconds) : uncompared(metric);
  return { ...scale, object: textIn(row, 'slot'), value };
}

/** Seconds that a slot is known to have been inactive; undefined if not known (yet). */
function idleFor(row: Row, { version, before }: ServerFacts): number | undefined {
  if (version >= 170_000) return typeof row['age'] === 'number' ? row['age'] : undefined;
  const last = before?.rows.find(({ slot }) => slot === row['slot']);
  if (!before || !last) return undefined;
  const still =
    last['active'] === false && textOrNone(last, 'restart_lsn') === textOrNone(row, 'restart_lsn');
  return still ? before.seconds : undefined;
}
