import type { Severity } from '../../vocabulary/severities.ts';
import type { Category, Check } from '../check.ts';
import { textIn } from '../columns.ts';
import { alterSystem } from './alter-system.ts';
import { isOff } from './own-role-settings.ts';

/** What differs between the checks of settings that must never be off. */
interface SettingOff {
  id: string;
  title: string;
  category: Category;
  severity: Severity;
  /** Setting → what happens without it, as the end of a sentence. Each takes effect on a reload. */
  settings: Readonly<Record<string, string>>;
}

/** A check with a finding for each setting that is off on the server. */
export function settingOff({ settings, severity, ...named }: SettingOff): Check {
  const names = Object.keys(settings);
  return {
    ...named,
    maxSeverity: severity,
    volatile: false,
    scope: 'server',
    sql: () => `
  ${names.map((name) => `select '${name}' as name where ${isOff(name)}`).join(' union all ')}
   order by name`,
    judge: (rows, server) => ({
      passMessage: `${names.join(' and ')} are on.`,
      measures: [],
      faults: rows
        .map((row) => textIn(row, 'name'))
        .map((name) => ({
          severity,
          object: name,
          metricLine: `${name} is off: ${settings[name]}; turn it on.`,
          remediation: alterSystem(server, { name, value: 'on' }),
        })),
    }),
  };
}
