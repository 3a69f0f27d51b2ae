import { kindOfAction } from '../catalogue/catalogue.ts';
import { entryActor } from '../entry-actor.ts';
import type { ShownEntry } from './shown-entry.ts';

export type EntrySeverity = 'info' | 'low' | 'medium';

/** How much attention an entry deserves, by the catalogue; of a request by its status. */
export function entrySeverity({
  action_type,
  properties,
}: Pick<ShownEntry, 'action_type' | 'properties'>): EntrySeverity {
  const kind = kindOfAction(action_type);
  if (kind !== null && kind.severity !== 'status') return kind.severity;
  if (entryActor(action_type, properties).outcome === 'success') return 'info';
  return kind === null || Number(properties['status']) >= 500 ? 'medium' : 'low';
}
