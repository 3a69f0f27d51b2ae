import { counted, grouped, percent } from '../wording.ts';
import { counterCheck, shareScale } from './counter-check.ts';
import type { Figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';

/** Share of connection attempts that failed, as in MySQLTuner, and the minimum of failed ones. */
const thresholds = { warning: 0.03, minimum_aborted: 10 };

// Without name resolution the server does not fill this table, and it never has a row for its own machine.
const HOSTS =
  'SELECT ip, count_authentication_errors, count_handshake_errors, sum_connect_errors, last_error_seen FROM performance_schema.host_cache WHERE last_error_seen IS NOT NULL ORDER BY last_error_seen DESC;';

const REASONS =
  "SHOW GLOBAL STATUS LIKE 'Connection_errors%'; SHOW GLOBAL VARIABLES WHERE variable_name IN ('log_error', 'log_error_verbosity', 'log_warnings');";

/** Failed connection attempts. */
export const abortedConnects = counterCheck({
  id: 'MY_ABORTED_CONNECTS',
  title: 'Many failed connection attempts',
  category: 'connections',
  severity: 'warning',
  thresholds,
  counters: ['Aborted_connects', 'Connections'],
  variables: ['performance_schema', 'skip_name_resolve', 'host_cache_size'],
  measures: ({ by }, { thresholds: { warning, minimum_aborted } }) => {
    const aborted = by('Aborted_connects');
    const value = aborted / by('Connections');
    const judged = { operator: '>=', enough: aborted >= minimum_aborted, warning } as const;
    return [{ ...shareScale('failed_connections_ratio', judged), value }];
  },
  fault: ({ by, now }, facts) => {
    const { warning, minimum_aborted } = facts.thresholds;
    const [aborted, all] = [by('Aborted_connects'), by('Connections')];
    if (aborted < minimum_aborted || aborted / all < warning) return null;
    return {
      metricLine: `${grouped(aborted)} of ${counted(all, 'attempt')} to connect failed since the last run (${percent(aborted / all)}); look for wrong passwords, port checks and network problems.`,
      remediation: remediation(now, facts.version),
    };
  },
  passMessage: ({ by }) =>
    `${grouped(by('Aborted_connects'))} of ${counted(by('Connections'), 'attempt')} to connect failed since the last run.`,
});

function remediation(settings: Figures, version: number): string {
  const hosts =
    settings.on('performance_schema') &&
    !settings.on('skip_name_resolve') &&
    settings.number('host_cache_size') > 0;
  const names = isMariaDb(version) ? 'log_warnings = 2' : 'log_error_verbosity = 3';
  return `${hosts ? `${HOSTS} ` : ''}${REASONS} -- the error log names each login that was refused, with ${names}`;
}
