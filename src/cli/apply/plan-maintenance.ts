import type pg from 'pg';
import { within } from '../../database/read.ts';
import { addMaintenance } from '../../notifications/maintenance/add-maintenance.ts';
import { endMaintenance } from '../../notifications/maintenance/end-maintenance.ts';
import { listMaintenance } from '../../notifications/maintenance/list-maintenance.ts';
import type { MaintenanceRow } from '../../notifications/maintenance/maintenance-row.ts';
import { weekdaysText } from '../../notifications/maintenance/weekdays.ts';
import { COMMAND_LINE } from '../commands/silence-command.ts';
import { changesOf, type Step, type Steps } from './apply-step.ts';
import type { DesiredMaintenance } from './parse-maintenance.ts';

/** The steps that bring an account's recurring maintenance windows to the desired state. Windows that happen once stay. */
export async function planMaintenance(
  client: pg.ClientBase,
  account: { id: number | null; name: string },
  wanted: readonly DesiredMaintenance[],
): Promise<Steps> {
  const listed = account.id === null ? [] : await listMaintenance(within(client), account.id);
  const stored = listed.filter(({ state, weekdays }) => state !== 'past' && weekdays !== null);
  const known = Map.groupBy(stored, ({ name }) => name);
  const named = new Set(wanted.map(({ name }) => name));
  return {
    wanted: wanted.flatMap((window) => stepFor(account.name, known.get(window.name) ?? [], window) ?? []),
    unnamed: [...known].flatMap(([name, rows]) =>
      named.has(name) ? [] : [removal(account.name, name, rows)],
    ),
  };
}

// A window is never changed: if it differs, it is ended and added again.
function stepFor(account: string, before: MaintenanceRow[], wanted: DesiredMaintenance): Step | null {
  const [first] = before;
  const { changed, from, to } = changesOf(first ? shownRow(first) : {}, shown(wanted));
  if (first && before.length === 1 && changed.length === 0) return null;
  const of = { what: 'maintenance', account, name: wanted.name } as const;
  return {
    difference: { action: first ? 'change' : 'add', ...of, changed, from, to },
    make: async (change) => {
      for (const { id } of before) await endMaintenance((work) => work(change), id, COMMAND_LINE);
      await addMaintenance((work) => work(change), { ...wanted, connection_ids: null }, COMMAND_LINE);
    },
  };
}

function removal(account: string, name: string, rows: readonly MaintenanceRow[]): Step {
  const none = { changed: [], from: {}, to: {} };
  return {
    difference: { action: 'remove', what: 'maintenance', account, name, ...none },
    make: async (change) => {
      for (const { id } of rows) await endMaintenance((work) => work(change), id, COMMAND_LINE);
    },
  };
}

/** The fields as the file has them. */
function shown({ weekdays, start_time, time_zone, minutes, connection_names }: DesiredMaintenance) {
  return { every: weekdaysText(weekdays), at: start_time, time_zone, minutes, connections: connection_names };
}

function shownRow({ weekdays, start_time, time_zone, minutes, connections: { ids, names } }: MaintenanceRow) {
  const every = weekdaysText(weekdays ?? []);
  return { every, at: start_time, time_zone, minutes, connections: ids === null ? names : { ids, names } };
}
