import type { Check } from '../check.ts';
import { numberIn, onlyRow } from '../columns.ts';
import type { Row } from '../fault.ts';
import type { Measure } from '../measure.ts';
import { counted } from '../wording.ts';
import { atLeast, faultMeasure, uncompared } from '../worst-measures.ts';
import { BACKUP_COLUMNS, backupIn, backupSteps } from './backups.ts';
import { Figures, figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';
import { PROCESS } from './session-check.ts';
import { setForGood } from './setting-check.ts';

/** Transactions whose old rows are not purged yet; dbvitals' own value. */
const thresholds = { warning: 100_000 };

// In MySQL it is only a metric, enabled by default. The aggregate always gives a row.
const metric = `
  select max(case when status = 'enabled' then count end) as length
    from information_schema.innodb_metrics
   where name = 'trx_rseg_history_len'`;

const OLDEST =
  "SELECT concat('KILL ', id, ';') AS statement, user, db, trx_started FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE id <> connection_id() ORDER BY trx_started; -- run what it prints for old transactions; purge then catches up by itself";

// Purge waits for the oldest transaction. In MariaDB this check needs no privilege, so a login without PROCESS does not look.
const seesAll = `
  select count(*) as sees_all
    from information_schema.user_privileges
   where privilege_type = 'PROCESS' and replace(grantee, '''', '') = current_user()`;
const oldest = `
  select trx_mysql_thread_id as oldest_thread, ${BACKUP_COLUMNS}
    from information_schema.innodb_trx
    left join information_schema.processlist p on p.id = trx_mysql_thread_id
   order by trx_started
   limit 1`;

/** How far InnoDB's purge of old row versions lags behind. */
export const historyList: Check<typeof thresholds> = {
  id: 'MY_HISTORY_LIST',
  title: 'InnoDB purge lags behind',
  category: 'transactions',
  maxSeverity: 'warning',
  volatile: true,
  scope: 'server',
  thresholds,
  privilege: PROCESS,
  sql: (version) => (isMariaDb(version) ? figures({ status: ['Innodb_history_list_length'] }) : metric),
  steps: ({ version, thresholds }) => [
    (rows) => ((lengthIn(rows, version) ?? 0) >= thresholds.warning ? seesAll : undefined),
    (rows) => (rows.some((row) => Number(row['sees_all'] ?? 0) > 0) ? oldest : undefined),
    ...backupSteps((rows) => rows.some((row) => 'oldest_thread' in row)),
  ],
  judge: (rows, facts) => {
    const { warning } = facts.thresholds;
    const length = lengthIn(rows, facts.version);
    if (length === null) {
      const turnOn = facts.provider
        ? setForGood(facts, 'innodb_monitor_enable', 'trx_rseg_history_len')
        : "Run SET GLOBAL innodb_monitor_enable = 'trx_rseg_history_len';";
      return { skipped: `Not measured: the metric trx_rseg_history_len is off. ${turnOn}` };
    }
    const behind = `The old rows of ${counted(length, 'transaction')} wait to be purged`;
    const scale = atLeast('history_list_count', warning);
    const measure: Measure = { ...scale, object: null, value: length };
    const measured = { passMessage: `${behind}.`, measures: [measure] };
    const { thread, dumps } = rows.find((row) => 'oldest_thread' in row) ?? {};
    const backup = length < warning ? undefined : backupIn(rows, thread, dumps);
    // MY_LONG_TRX names it once it takes long.
    if (backup !== undefined) {
      return {
        faults: [],
        passMessage: `${behind}, because ${backup} reads them; purge goes on when it ends.`,
        measures: [{ ...uncompared('history_list_count'), object: null, value: length }],
        near: [null],
      };
    }
    if (length < warning) return { faults: [], ...measured, near: length >= 0.9 * warning ? [null] : [] };
    return {
      ...measured,
      faults: [
        {
          severity: 'warning',
          object: null,
          metricLine: `${behind}; end the transactions that may still need them.`,
          remediation: OLDEST,
          measured: faultMeasure(measure),
        },
      ],
    };
  },
};

function lengthIn(rows: readonly Row[], version: number): number | null {
  if (isMariaDb(version)) return new Figures(rows).number('Innodb_history_list_length');
  const row = onlyRow(rows.slice(0, 1));
  return row['length'] === null ? null : numberIn(row, 'length');
}
