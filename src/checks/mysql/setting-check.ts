import type { Check, Fault } from '../check.ts';
import { Figures, figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';

/** What differs between the checks of server settings. */
interface SettingCheck extends Pick<Check, 'id' | 'title' | 'category'> {
  /** Of each fault. */
  severity: Fault['severity'];
  reads: Parameters<typeof figures>[0];
  /** Why a server of that version can't be judged, as the end of a sentence; undefined if it can. */
  absent?: (version: number) => string | undefined;
  /** Undefined if the settings are fine. */
  wrong: (settings: Figures, version: number) => Pick<Fault, 'metricLine' | 'remediation'> | undefined;
  passMessage: (settings: Figures) => string;
}

/** A check with at most one finding, for the whole server. It needs no privilege. */
export function settingCheck({ severity, reads, absent, wrong, passMessage, ...named }: SettingCheck): Check {
  return {
    ...named,
    maxSeverity: severity,
    volatile: false,
    scope: 'server',
    sql: () => figures(reads),
    judge: (rows, { version }) => {
      const reason = absent?.(version);
      if (reason !== undefined) return { skipped: `Not measured: ${reason}.` };
      const settings = new Figures(rows);
      const fault = wrong(settings, version);
      return fault
        ? { passMessage: '', measures: [], faults: [{ severity, object: null, ...fault }] }
        : { passMessage: passMessage(settings), measures: [], faults: [] };
    },
  };
}

/** Sets a dynamic variable now and across restarts: only MySQL can persist it itself. */
export function setForGood(version: number, name: string, value: string | number): string {
  return isMariaDb(version)
    ? `SET GLOBAL ${name} = ${value}; -- and ${name} = ${value} under [mysqld] in the option file`
    : `SET PERSIST ${name} = ${value};`;
}
