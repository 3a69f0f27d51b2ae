import type { Provider } from '../../vocabulary/hosted/providers.ts';
import type { Check, ServerFacts } from '../check.ts';
import type { Fault } from '../fault.ts';
import { hostedSetting } from '../hosted/hosted-setting.ts';
import { Figures, figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';

/** What decides how a setting of a server is changed. */
export type Server = Pick<ServerFacts, 'version' | 'provider'>;

/** What differs between the checks of server settings. */
interface SettingCheck extends Pick<Check, 'id' | 'title' | 'category'> {
  /** Of each fault. */
  severity: Fault['severity'];
  reads: Parameters<typeof figures>[0];
  /** Why a server of that version can't be judged, as the end of a sentence; undefined if it can. */
  absent?: (version: number) => string | undefined;
  /** Undefined if the settings are fine. */
  wrong: (settings: Figures, server: Server) => Pick<Fault, 'metricLine' | 'remediation'> | undefined;
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
    judge: (rows, server) => {
      const reason = absent?.(server.version);
      if (reason !== undefined) return { skipped: `Not measured: ${reason}.` };
      const settings = new Figures(rows);
      const fault = wrong(settings, server);
      return fault
        ? { passMessage: '', measures: [], faults: [{ severity, object: null, ...fault }] }
        : { passMessage: passMessage(settings), measures: [], faults: [] };
    },
  };
}

/** Sets a dynamic variable now and across restarts: only MySQL can persist it itself. `value` is SQL. */
export function setForGood({ version, provider }: Server, name: string, value: string | number): string {
  if (provider) return hostedVariable(provider, name, value, false);
  return isMariaDb(version)
    ? `SET GLOBAL ${name} = ${value}; -- and ${name} = ${value} under [mysqld] in the option file`
    : `SET PERSIST ${name} = ${value};`;
}

/** Sets a variable that the server reads only when it starts. */
export function setAtStart(
  { provider }: Pick<Server, 'provider'>,
  name: string,
  value: string | number,
): string {
  if (provider) return hostedVariable(provider, name, value, true);
  return `Put ${name} = ${value} under [mysqld] in the option file and restart the server.`;
}

function hostedVariable(provider: Provider, name: string, value: string | number, restart: boolean): string {
  const plain = String(value).replace(/^'(.*)'$/, '$1');
  return hostedSetting(provider, { engine: 'mysql', name, value: plain, restart });
}
