import type { Check } from '../check.ts';
import type { Fault } from '../fault.ts';
import { hostedDefault } from '../hosted/hosted-setting.ts';
import { Figures, figures } from './figures.ts';
import { quoted } from './quote.ts';
import { setForGood } from './setting-check.ts';

/** By their newer name (MySQL since 8.0.26), else by their older one. */
const SKIPPED = ['replica_skip_errors', 'slave_skip_errors'];
const MODE = ['replica_exec_mode', 'slave_exec_mode'];

/** Settings that make replication skip errors: the replica's data differ, and nobody notices. */
export const skipErrors: Check = {
  id: 'MY_SKIP_ERRORS',
  title: 'Replication errors are skipped',
  category: 'replication',
  maxSeverity: 'critical',
  volatile: false,
  scope: 'server',
  sql: () => figures({ variables: [...SKIPPED, ...MODE] }),
  judge: (rows, server) => {
    const settings = new Figures(rows);
    const named = (names: string[]) => names.find((name) => settings.has(name)) ?? names.join();
    const [skipped, mode] = [named(SKIPPED), named(MODE)];
    const faults: Fault[] = [];
    const errors = settings.text(skipped);
    if (!/^(?:off|)$/i.test(errors))
      faults.push({
        severity: 'critical',
        object: skipped,
        metricLine: `${skipped} is ${shownValue(errors)}: replication skips these errors, and data drift apart unnoticed; unset it, and compare with the source.`,
        remediation: `SHOW GLOBAL VARIABLES LIKE '${skipped}'; -- ${server.provider ? hostedDefault(server.provider, skipped) : 'remove it from the option file'}, restart, and compare the data with the source's`,
      });
    if (settings.text(mode).toUpperCase() !== 'STRICT')
      faults.push({
        severity: 'critical',
        object: mode,
        metricLine: `${mode} is ${shownValue(settings.text(mode))}: replication ignores duplicate keys and missing rows, and data drift apart unnoticed; set it to STRICT, and compare with the source.`,
        remediation: setForGood(server, mode, "'STRICT'"),
      });
    return { faults, measures: [], passMessage: 'Replication stops on any error.' };
  },
};

/** Numbers or words as the server lists them, at most 80 characters of them; anything else in quotes. */
function shownValue(value: string): string {
  const short = value.length > 80 ? value.slice(0, 80) : value;
  const shown = /^[\w,]*$/.test(short) ? short : quoted(short);
  return value.length > 80 ? `${shown}…` : shown;
}
