import type { Check } from '../check.ts';
import type { Measure } from '../measure.ts';
import { grouped, percent } from '../wording.ts';
import { faultMeasure } from '../worst-measures.ts';
import { Figures, figures } from './figures.ts';
import { setForGood } from './setting-check.ts';

/** Share of open_files_limit, as in MySQLTuner. */
const thresholds = { warning: 0.85 };

/** Files that the server and InnoDB have open, against the limit of the operating system. */
export const openFiles: Check<typeof thresholds> = {
  id: 'MY_OPEN_FILES',
  title: 'Open files near their limit',
  category: 'performance',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  thresholds,
  sql: () =>
    figures({
      status: ['Open_files', 'Innodb_num_open_files', 'Open_tables'],
      variables: ['open_files_limit', 'table_open_cache'],
    }),
  judge: (rows, facts) => {
    const { warning } = facts.thresholds;
    const read = new Figures(rows);
    const limit = read.number('open_files_limit');
    // InnoDB counts its own files separately.
    const innodb = read.has('Innodb_num_open_files') ? read.number('Innodb_num_open_files') : 0;
    const open = read.number('Open_files') + innodb;
    if (limit === 0)
      return { faults: [], passMessage: `${grouped(open)} files are open; there is no limit.`, measures: [] };
    const files = `${grouped(open)} of ${grouped(limit)} files are open (${percent(open / limit)})`;
    const scale = { metric: 'open_files_ratio', operator: '>=', warning, critical: null, limit: 1 } as const;
    const measure: Measure = { ...scale, object: null, value: open / limit };
    const measures = [measure];
    if (open / limit < warning) return { faults: [], passMessage: `${files}.`, measures };
    return {
      passMessage: `${files}.`,
      measures,
      faults: [
        {
          severity: 'warning',
          object: null,
          metricLine: `${files}; raise open_files_limit, or keep fewer tables open than ${grouped(read.number('Open_tables'))}.`,
          remediation: setForGood(
            facts,
            'table_open_cache',
            Math.max(
              10,
              Math.floor(Math.min(read.number('Open_tables'), read.number('table_open_cache')) / 2),
            ),
          ),
          measured: faultMeasure(measure),
        },
      ],
    };
  },
};
