import { backupChecks } from '../checks/backups/backup-checks.ts';
import { catalogues } from '../checks/catalogue.ts';
import type { Check } from '../checks/check.ts';
import type { NewChange } from '../runs/changes/connection-change.ts';
import type { StoredSettings } from './connection-changes.ts';

type JudgedBy = Pick<StoredSettings, 'engine' | 'thresholds' | 'expected_standbys'>;

/** How the thresholds of a connection differ, for its list of changes. A default is shown as such. */
export function thresholdChangesBetween(before: JudgedBy, after: JudgedBy, source: string): NewChange[] {
  const changes: NewChange[] = [];
  const add = (subject: string, was: string, is: string) => {
    if (was !== is)
      changes.push({ kind: 'threshold', database: '', subject, before: was, after: is, source });
  };
  const checks: readonly Pick<Check, 'id' | 'thresholds'>[] = [
    ...catalogues[after.engine].checks,
    ...backupChecks,
  ];
  for (const { id, thresholds = {} } of checks) {
    for (const [name, standard] of Object.entries(thresholds)) {
      const shown = (own: number | undefined) => (own === undefined ? `${standard} (default)` : String(own));
      add(`${id} ${name}`, shown(before.thresholds[id]?.[name]), shown(after.thresholds[id]?.[name]));
    }
  }
  add('expected standbys', String(before.expected_standbys), String(after.expected_standbys));
  return changes;
}
