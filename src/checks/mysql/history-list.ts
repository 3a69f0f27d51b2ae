import type { Check, Row } from '../check.ts';
import { numberIn, onlyRow } from '../columns.ts';
import type { Measure } from '../measure.ts';
import { counted } from '../wording.ts';
import { faultMeasure } from '../worst-measures.ts';
import { Figures, figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';
import { PROCESS } from './session-check.ts';
import { setForGood } from './setting-check.ts';

/** Transactions whose old rows are not purged yet; dbvitals' own values. */
const thresholds = { warning: 100_000, critical: 1_000_000 };

// In MySQL it is only a metric, enabled by default. The aggregate always gives a row.
const metric = `
  select max(case when status = 'enabled' then count end) as length
    from information_schema.innodb_metrics
   where name = 'trx_rseg_history_len'`;

const OLDEST =
  "SELECT concat('KILL ', id, ';') AS statement, user, db, trx_started FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE id <> connection_id() ORDER BY trx_started; -- run what it prints for old transactions; purge then catches up by itself";

/** How far InnoDB's purge of old row versions lags behind. */
export const historyList: Check<typeof thresholds> = {
  id: 'MY_HISTORY_LIST',
  title: 'InnoDB purge lags behind',
  category: 'transactions',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  thresholds,
  privilege: PROCESS,
  sql: (version) => (isMariaDb(version) ? figures({ status: ['Innodb_history_list_length'] }) : metric),
  judge: (rows, facts) => {
    const { warning, critical } = facts.thresholds;
    const length = lengthIn(rows, facts.version);
    if (length === null) {
      const turnOn = facts.provider
        ? setForGood(facts, 'innodb_monitor_enable', 'trx_rseg_history_len')
        : "Run SET GLOBAL innodb_monitor_enable = 'trx_rseg_history_len';";
      return { skipped: `Not measured: the metric trx_rseg_history_len is off. ${turnOn}` };
    }
    const behind = `The old rows of ${counted(length, 'transaction')} wait to be purged`;
    const scale = { metric: 'history_list_count', operator: '>=', warning, critical } as const;
    const measure: Measure = { ...scale, object: null, value: length };
    const measured = { passMessage: `${behind}.`, measures: [measure] };
    if (length < warning) return { faults: [], ...measured, near: length >= 0.9 * warning ? [null] : [] };
    return {
      ...measured,
      faults: [
        {
          severity: length >= critical ? 'critical' : 'warning',
          object: null,
          metricLine: `${behind}; end the transactions that may still need them.`,
          remediation: OLDEST,
          measured: faultMeasure(measure),
        },
      ],
    };
  },
};

function lengthIn(rows: Row[], version: number): number | null {
  if (isMariaDb(version)) return new Figures(rows).number('Innodb_history_list_length');
  const row = onlyRow(rows);
  return row['length'] === null ? null : numberIn(row, 'length');
}
