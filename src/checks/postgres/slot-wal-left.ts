import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { counted, percent, size } from '../wording.ts';
import { atMost, faultMeasure, worstOf } from '../worst-measures.ts';
import { slotSteps } from './slot-steps.ts';
import { ofThisServer } from './synced-slots.ts';

/** Free shares of max_slot_wal_keep_size; dbvitals' own: as for a disk that fills up. */
const thresholds = { warning: 0.2, critical: 0.05 };

// wal_keep_size may keep more than the limit says. Both are in MB; -1 = no limit, and then no slot is ever lost. Of a slot that keeps
// nothing yet, the server computes as if it kept all WAL since the first.
const sql = (version: number) => `
  select setting.megabytes,
         slot.*
    from (
      select max(setting::float8) filter (where name = 'max_slot_wal_keep_size') as megabytes,
             max(setting::float8) as keep
        from pg_settings
       where name in ('max_slot_wal_keep_size', 'wal_keep_size')
    ) setting
    left join lateral (
      select slot_name::text as slot,
             safe_wal_size::float8 as left,
             least(1, safe_wal_size / (greatest(keep, 1) * 1024 * 1024))::float8 as free
        from pg_replication_slots
       where megabytes >= 0
         and safe_wal_size is not null
         and restart_lsn is not null
         and ${ofThisServer(version)}
       order by free, slot_name
       limit ${FAULT_LIMIT + 1}
    ) slot on true`;

/** Slots that are about to lose WAL that their consumer needs. */
export const slotWalLeft: Check<typeof thresholds> = {
  id: 'PG_SLOT_WAL_LEFT',
  title: 'Replication slot near its limit',
  category: 'replication',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  thresholds,
  sql,
  judge: (rows, facts) => {
    const { warning, critical } = facts.thresholds;
    if (numberIn(onlyRow(rows.slice(0, 1)), 'megabytes') < 0) {
      return {
        faults: [],
        measures: [],
        passMessage: 'max_slot_wal_keep_size sets no limit, so no slot can reach it.',
      };
    }
    const scale = atMost('slot_wal_left_ratio', warning, critical);
    const measure = (row: Row) => ({
      ...scale,
      object: textIn(row, 'slot'),
      value: Math.max(0, numberIn(row, 'free')),
    });
    const slots = rows.filter(({ slot }) => slot !== null);
    const full = slots.filter((row) => numberIn(row, 'free') < warning);
    // 90 % of the way to the threshold.
    const near = slots.filter(
      (row) => 1 - numberIn(row, 'free') >= 0.9 * (1 - warning) && !full.includes(row),
    );
    const [least] = slots;
    return {
      faults: full.slice(0, FAULT_LIMIT).map((row): Fault => {
        const [slot, free] = [textIn(row, 'slot'), numberIn(row, 'free')];
        const left = size(Math.max(0, numberIn(row, 'left')));
        return {
          severity: free < critical ? 'critical' : 'warning',
          object: slot,
          metricLine: `Slot ${slot}: ${left} of WAL (${percent(Math.max(0, free))} of max_slot_wal_keep_size) are left before it is lost; let its consumer catch up, or drop the slot.`,
          remediation: slotSteps(slot),
          measured: faultMeasure(measure(row)),
        };
      }),
      passMessage: least
        ? `${counted(slots.length, 'slot')}, at least ${percent(numberIn(least, 'free'))} of max_slot_wal_keep_size free.`
        : 'There is no replication slot that keeps WAL.',
      measures: worstOf(slots.map(measure)),
      near: near.map((row) => textIn(row, 'slot')),
      truncated: full.length > FAULT_LIMIT,
    };
  },
};
