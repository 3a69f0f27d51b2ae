import type { Check, Judgement, ServerFacts } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn, textOrNone } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import type { Measure } from '../measure.ts';
import { counted, duration, size } from '../wording.ts';
import { atLeast, atMost, faultMeasure, uncompared, worstOf } from '../worst-measures.ts';
import { lostSlotSteps, slotSteps } from './slot-steps.ts';
import { ofThisServer } from './synced-slots.ts';

/** Seconds without a consumer, and hours until what it keeps reaches the limit; dbvitals' own: a disk takes longer to fill. */
const thresholds = { warning_seconds: 30 * 60, critical_hours: 24 };

/** Without max_slot_wal_keep_size WAL fills the disk, whose size PostgreSQL does not know: so much room is assumed. */
const ASSUMED_ROOM = 20 * 1024 ** 3;

// Why a slot is invalid. 16 calls any such slot conflicting, but only on a standby can one conflict.
const reasonOf = (version: number) => {
  if (version >= 170_000) return 'invalidation_reason';
  return version < 160_000 ? 'null' : "case when conflicting and pg_is_in_recovery() then 'conflicting' end";
};

// Before 17 the server does not show since when. Without a limit (-1) `most` is null; wal_keep_size may keep more than the
// limit says.
const sql = (version: number) => `
  select case when bound.bytes >= 0
                then greatest(bound.bytes, pg_size_bytes(current_setting('wal_keep_size')), 1024 * 1024)
         end::float8 as most,
         pg_size_bytes(current_setting('wal_segment_size'))::float8 as segment,
         slot.*
    from (select pg_size_bytes(current_setting('max_slot_wal_keep_size')) as bytes) bound
    left join (
      select slot_name::text as slot,
             active,
             coalesce(wal_status = 'lost', false) as lost,
             ${reasonOf(version)} as reason,
             restart_lsn::text as restart_lsn,
             pg_wal_lsn_diff(now.lsn, restart_lsn)::float8 as kept,
             pg_wal_lsn_diff(now.lsn, '0/0')::float8 as position,
             ${version < 170_000 ? 'null::float8' : 'extract(epoch from clock_timestamp() - inactive_since)::float8'} as age
        from pg_replication_slots
        cross join (
          select case when pg_is_in_recovery() then greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
                      else pg_current_wal_lsn()
                  end as lsn
        ) now
       where not temporary
         and ${ofThisServer(version)}
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
  // Before 17 the runs add up how long each slot has stayed where it is.
  keeps: (rows, before) =>
    rows.map((row) => ({ ...row, idle: row['active'] === true ? 0 : (addedUp(row, before) ?? 0) })),
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
    const unknown = slots.some((row) => keepsWal(row) && idleFor(row, facts) === undefined);
    if (!unknown) return judgement;
    if (faults.length > 0) return { ...judgement, truncated: true };
    const skipped =
      'Not measured: before PostgreSQL 17 it needs two runs to know how long a slot has had no consumer.';
    return { skipped };
  },
};

/** Why a slot can't be used again, other than by lost WAL: by `invalidation_reason` of PostgreSQL. */
const INVALIDATIONS: Readonly<Record<string, string>> = {
  idle_timeout: 'had no consumer for longer than idle_replication_slot_timeout, and is invalid',
  rows_removed: 'is invalid: rows that its consumer needs were removed',
  wal_level_insufficient: 'is invalid: wal_level was lowered below what it needs',
  conflicting: 'is invalid: what its consumer needs was removed',
};

function fault(row: Row, facts: ServerFacts<typeof thresholds>): Fault | null {
  const slot = textIn(row, 'slot');
  const { warning_seconds } = facts.thresholds;
  const remediation = slotSteps(slot);
  if (row['lost'] === true) {
    const cause = INVALIDATIONS[textOrNone(row, 'reason') ?? ''] ?? 'has lost WAL that its consumer needs';
    const metricLine = `Slot ${slot} ${cause}; drop the slot, and rebuild its consumer.`;
    return { severity: 'critical', object: slot, metricLine, remediation: lostSlotSteps(slot) };
  }
  const idle = idleFor(row, facts);
  if (idle === undefined || !keepsWal(row) || idle < warning_seconds) return null;
  const left = roomLeft(row, facts);
  const isCritical = left !== null && left.value <= (left.critical ?? 0);
  const soon =
    left === null
      ? ''
      : `, which ${row['most'] === null ? `fills ${size(ASSUMED_ROOM)}` : 'reaches max_slot_wal_keep_size'} in ${duration(left.value)}`;
  return {
    severity: isCritical ? 'critical' : 'warning',
    object: slot,
    metricLine: `Slot ${slot} has had no consumer for ${duration(idle)} and keeps ${size(numberIn(row, 'kept'))} of WAL${soon}; start its consumer again, or drop the slot.`,
    remediation,
    measured: faultMeasure(isCritical ? left : idleMeasure(row, idle, facts)),
  };
}

/** A slot keeps the segment that it is in, which the server needs itself. One that is invalid, or whose position is null, keeps nothing. */
function keepsWal(row: Row): boolean {
  if (row['active'] === true || row['lost'] === true) return false;
  return typeof row['kept'] === 'number' && row['kept'] > numberIn(row, 'segment');
}

/** The time until an idle slot reaches its limit, or fills the disk, at the rate of the last run or since it is idle. */
function roomLeft(row: Row, facts: ServerFacts<typeof thresholds>): Measure | null {
  const last = before(row, facts.before);
  const idle = idleFor(row, facts) ?? 0;
  const kept = numberIn(row, 'kept');
  const [bytes, seconds] =
    facts.before && typeof last?.['position'] === 'number'
      ? [numberIn(row, 'position') - last['position'], facts.before.seconds]
      : [kept, idle];
  if (bytes <= 0 || seconds <= 0) return null;
  const room = row['most'] === null ? ASSUMED_ROOM : numberIn(row, 'most');
  return {
    ...atMost('slot_room_left_seconds', null, facts.thresholds.critical_hours * 3600),
    object: textIn(row, 'slot'),
    value: (Math.max(0, room - kept) / bytes) * seconds,
  };
}

function measures(slots: Row[], facts: ServerFacts<typeof thresholds>): Measure[] {
  const idle = slots.flatMap((row) => {
    if (row['active'] !== true && !keepsWal(row)) return [];
    const seconds = idleFor(row, facts);
    return seconds === undefined ? [] : [idleMeasure(row, seconds, facts)];
  });
  const kept = slots
    .filter((row) => typeof row['kept'] === 'number' && row['lost'] !== true)
    .map(
      (row): Measure => ({
        ...uncompared('slot_wal_bytes'),
        object: textIn(row, 'slot'),
        value: Math.max(0, numberIn(row, 'kept')),
        limit: row['most'] === null ? null : numberIn(row, 'most'),
        grows: true,
      }),
    );
  const left = slots.flatMap((row) => {
    const isIdle = keepsWal(row) && (idleFor(row, facts) ?? 0) >= facts.thresholds.warning_seconds;
    return isIdle ? (roomLeft(row, facts) ?? []) : [];
  });
  return [...worstOf(idle), ...worstOf(kept), ...worstOf(left)];
}

function idleMeasure(row: Row, value: number, facts: ServerFacts<typeof thresholds>): Measure {
  const scale = atLeast('slot_inactive_seconds', facts.thresholds.warning_seconds);
  return { ...scale, object: textIn(row, 'slot'), value };
}

/** Seconds that a slot is known to have been inactive; undefined if not known (yet). */
function idleFor(row: Row, facts: ServerFacts<typeof thresholds>): number | undefined {
  if (row['active'] === true || hasMoved(row, facts.before)) return 0;
  if (facts.version >= 170_000) return typeof row['age'] === 'number' ? row['age'] : undefined;
  return addedUp(row, facts.before);
}

function before(row: Row, last: ServerFacts['before']): Row | undefined {
  return last?.rows.find(({ slot }) => slot === row['slot']);
}

/** Something moves the slot from run to run without staying connected, as Patroni does on standbys. */
function hasMoved(row: Row, last: ServerFacts['before']): boolean {
  const earlier = before(row, last);
  return earlier !== undefined && textOrNone(earlier, 'restart_lsn') !== textOrNone(row, 'restart_lsn');
}

/** Seconds since the first run that saw the slot idle where it is; undefined if no earlier run did. */
function addedUp(row: Row, last: ServerFacts['before']): number | undefined {
  const earlier = before(row, last);
  if (!last) return undefined;
  if (!earlier || hasMoved(row, last)) return 0;
  return earlier['active'] === false ? Number(earlier['idle'] ?? 0) + last.seconds : 0;
}
