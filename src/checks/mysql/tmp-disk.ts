import { counted, grouped, percent, size } from '../wording.ts';
import { counterCheck, perSecond, shareScale } from './counter-check.ts';
import { isMariaDb } from './flavour.ts';
import { setForGood } from './setting-check.ts';

/** Share of temporary tables on disk, as in MySQLTuner, and the minimum a minute (dbvitals' own). */
const thresholds = { warning: 0.25, minimum_per_minute: 60 };

// A run creates up to a few hundred such tables itself, so the rate covers at least this time.
const LEAST_MINUTES = 10;

/** Temporary tables of sorts and groups that go to disk. */
export const tmpDisk = counterCheck({
  id: 'MY_TMP_DISK',
  title: 'Temporary tables on disk',
  category: 'performance',
  severity: 'warning',
  thresholds,
  counters: ['Created_tmp_disk_tables', 'Created_tmp_tables'],
  variables: ['tmp_table_size', 'max_heap_table_size'],
  measures: ({ by, minutes }, { thresholds: { warning, minimum_per_minute } }) => {
    const [onDisk, all] = [by('Created_tmp_disk_tables'), by('Created_tmp_tables')];
    const least = minimum_per_minute * Math.max(minutes, LEAST_MINUTES);
    const judged = { operator: '>=', enough: onDisk >= least, warning } as const;
    return [
      { ...shareScale('temporary_tables_on_disk_ratio', judged), value: onDisk / all },
      perSecond('temporary_tables_on_disk_per_second', minutes, onDisk),
    ];
  },
  fault: ({ by, minutes, now }, facts) => {
    const { warning, minimum_per_minute } = facts.thresholds;
    const [onDisk, all] = [by('Created_tmp_disk_tables'), by('Created_tmp_tables')];
    const least = minimum_per_minute * Math.max(minutes, LEAST_MINUTES);
    if (onDisk < least || onDisk / all < warning) return null;
    const bytes = Math.min(now.number('tmp_table_size'), now.number('max_heap_table_size'));
    const sizes = (scope: string) =>
      `SET ${scope} tmp_table_size = ${bytes * 2}, ${scope} max_heap_table_size = ${bytes * 2};`;
    return {
      metricLine: `${grouped(onDisk)} of ${counted(all, 'temporary table')} went to disk since the last run (${percent(onDisk / all)}); raise tmp_table_size above ${size(bytes)}, or avoid the sort.`,
      remediation: facts.provider
        ? ['tmp_table_size', 'max_heap_table_size']
            .map((name) => setForGood(facts, name, bytes * 2))
            .join(' Then: ')
        : isMariaDb(facts.version)
          ? `${sizes('GLOBAL')} -- and tmp_table_size = ${bytes * 2}, max_heap_table_size = ${bytes * 2} under [mysqld] in the option file`
          : sizes('PERSIST'),
    };
  },
  passMessage: ({ by }) =>
    `${grouped(by('Created_tmp_disk_tables'))} of ${counted(by('Created_tmp_tables'), 'temporary table')} went to disk since the last run.`,
});
