import type { RecurringWindow } from '../../notifications/maintenance/maintenance-row.ts';
import { requireTime } from '../../notifications/maintenance/require-window.ts';
import { weekdayNumber } from '../../notifications/maintenance/weekdays.ts';
import { durationOf, textOf } from '../arguments.ts';
import { noteRepeated, type ReadFile } from './configuration-file.ts';
import type { WrittenMaintenance } from './configuration-schema.ts';
import type { Path } from './schema-problems.ts';

/** The desired state of a recurring maintenance window. */
export interface DesiredMaintenance extends RecurringWindow {
  name: string;
  connection_names: string[] | null;
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
      ...{ starts_at: null, weekdays: every.map(weekdayNumber), start_time: at, time_zone },
      minutes: Math.round(seconds / 60),
    };
    return {
      ...(file.attempt([...path, place], () => requireTime(window, new Date())) ?? window),
      name: field('name', () => textOf('The name')(name)) ?? '',
      connection_names: connections ?? null,
    };
  });
}
