import type pg from 'pg';
import { addMaintenance } from '../../notifications/maintenance/add-maintenance.ts';
import { endMaintenance } from '../../notifications/maintenance/end-maintenance.ts';
import { listMaintenance } from '../../notifications/maintenance/list-maintenance.ts';
import type { MaintenanceRow } from '../../notifications/maintenance/maintenance-row.ts';
import type { RecurringWindow } from '../../notifications/maintenance/maintenance-window.ts';
import { requireTime } from '../../notifications/maintenance/require-window.ts';
import { weekdayNumber, weekdaysText } from '../../notifications/maintenance/weekdays.ts';
import { within } from '../../store/read.ts';
import { durationOf, textOf } from '../arguments.ts';
import { COMMAND_LINE } from '../commands/silence-command.ts';
import type { Steps } from './apply-step.ts';
import { noteRepeated, type ReadFile } from './configuration-file.ts';
import type { WrittenMaintenance } from './configuration-schema.ts';
import { type Kind, reconcile } from './reconcile.ts';
import type { Path } from './schema-problems.ts';
import {
  type DesiredScope,
  parseScope,
  requirePatterns,
  type ScopeNames,
  storedScope,
  type WrittenScope,
} from './scopes/scope-names.ts';

/** The desired state of a recurring maintenance window. */
export interface DesiredMaintenance extends RecurringWindow {
  name: string;
  path: Path;
  scope: DesiredScope;
}

/** Parses the recurring maintenance windows of an account, and notes their problems. */
export function maintenanceIn(
  file: ReadFile,
  path: Path,
  written: readonly WrittenMaintenance[],
): DesiredMaintenance[] {
  noteRepeated(file, path, written, 'name', ({ name }) => name.trim());
  return written.map(({ name, every, at, for: lasts, time_zone = 'UTC', connections }, place) => {
    const field = <T>(of: string, parse: () => T) => file.attempt([...path, place, of], parse);
    const seconds = field('for', () => durationOf('The duration', '1m', '7d')(lasts)) ?? 60;
    const window: RecurringWindow = {
      starts_at: null,
      weekdays: every.map(weekdayNumber),
      start_time: at,
      time_zone,
      minutes: Math.round(seconds / 60),
    };
    const scope = parseScope(connections);
    field('connections', () => requirePatterns(scope));
    return {
      ...(file.attempt([...path, place], () => requireTime(window, new Date())) ?? window),
      name: field('name', () => textOf('The name')(name)) ?? '',
      path: [...path, place],
      scope,
    };
  });
}

/** The steps that bring an account's recurring maintenance windows to the desired state. Windows that happen once stay. */
export async function planMaintenance(
  client: pg.ClientBase,
  account: { id: number | null; name: string },
  wanted: readonly DesiredMaintenance[],
  scopes: ScopeNames,
): Promise<Steps> {
  const listed = account.id === null ? [] : await listMaintenance(within(client), account.id);
  const stored = listed.filter(({ state, weekdays }) => state !== 'past' && weekdays !== null);
  return reconcile(maintenanceKind(scopes), account.name, wanted, stored);
}

// A window is never changed: if it differs, it is ended and added again.
function maintenanceKind(scopes: ScopeNames): Kind<DesiredMaintenance, MaintenanceRow> {
  return {
    what: 'maintenance',
    key: ({ name }) => name,
    name: ({ name }) => name,
    describe: (wanted) => shown(wanted, scopes.write(wanted.scope)),
    describeStored: (row) => shown(row, scopes.writeStored(row.connections)),
    async add(change, { path: _, scope, ...window }) {
      const stored = { ...window, ...(await storedScope(change, scope)) };
      await addMaintenance((work) => work(change), stored, COMMAND_LINE, { mayMatchNone: true });
    },
    remove: (change, { id }) => endMaintenance((work) => work(change), id, COMMAND_LINE),
  };
}

/** The fields as the file has them. */
function shown(
  {
    weekdays,
    start_time,
    time_zone,
    minutes,
  }: { weekdays: readonly number[] | null } & Pick<MaintenanceRow, 'start_time' | 'time_zone' | 'minutes'>,
  connections: WrittenScope | null,
) {
  return { every: weekdaysText(weekdays ?? []), at: start_time, time_zone, minutes, connections };
}
