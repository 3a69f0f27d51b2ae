import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Fault } from '../fault.ts';
import { counted, duration } from '../wording.ts';
import { atLeast, faultMeasure, listHighest } from '../worst-measures.ts';

/** Age in seconds: 5 min; a transaction manager finishes its own within seconds. */
const thresholds = { warning_seconds: 5 * 60 };

// Their number, and the oldest of each database and owner. The name of a transaction is different each time, so it is
// not part of the object.
const sql = `
  select (select count(*)::int from pg_prepared_xacts) as prepared,
         oldest.*
    from (select) one_row
    left join (
      select quote_ident(database) as database,
             quote_ident(owner) as role,
             extract(epoch from clock_timestamp() - min(prepared))::float8 as age,
             (array_agg(quote_literal(gid) order by prepared))[1] as gid,
             count(*)::int as of_them
        from pg_prepared_xacts
       group by database, owner
       order by age desc
       limit ${FAULT_LIMIT + 1}
    ) oldest on true`;

/** What to do about a prepared transaction, `gid` being a literal: only its manager knows whether it was to commit. */
export function preparedSteps(gid: string): string {
  return `SELECT database, owner, prepared FROM pg_prepared_xacts WHERE gid = ${gid}; -- then connect to this database, and run COMMIT PREPARED ${gid}; or ROLLBACK PREPARED ${gid}; as its transaction manager decided`;
}

/** Transactions that were prepared for two-phase commit and forgotten: they hold their locks across restarts. */
export const preparedXactOld: Check<typeof thresholds> = {
  id: 'PG_PREPARED_XACT_OLD',
  title: 'Old prepared transaction',
  category: 'connections',
  maxSeverity: 'warning',
  volatile: true,
  scope: 'server',
  thresholds,
  sql: () => sql,
  judge: (rows, facts) => {
    const { warning_seconds } = facts.thresholds;
    const prepared = numberIn(onlyRow(rows.slice(0, 1)), 'prepared');
    const scale = atLeast('oldest_prepared_transaction_seconds', warning_seconds);
    const ages: { object: string; value: number }[] = [];
    const faults: Fault[] = [];
    const near: string[] = [];
    for (const row of rows.filter(({ age }) => age !== null)) {
      const age = numberIn(row, 'age');
      const [database, role] = [textIn(row, 'database'), textIn(row, 'role')];
      const object = `${database}/${role}`;
      ages.push({ object, value: age });
      if (age < warning_seconds) {
        if (age >= 0.9 * warning_seconds) near.push(object);
        continue;
      }
      faults.push({
        severity: 'warning',
        object,
        metricLine: `Role ${role}, database ${database}: ${counted(numberIn(row, 'of_them'), 'prepared transaction')}, the oldest for ${duration(age)}; commit it or roll it back in this database, as its transaction manager decided.`,
        remediation: preparedSteps(textIn(row, 'gid')),
        measured: faultMeasure({ ...scale, object, value: age }),
      });
    }
    return {
      faults: faults.slice(0, FAULT_LIMIT),
      passMessage:
        prepared === 0 ? 'No transaction is prepared.' : 'No transaction has been prepared for long.',
      measures: listHighest(scale, ages),
      near,
      truncated: faults.length + near.length > FAULT_LIMIT,
    };
  },
};
