import { useMemo } from 'react';
import type { FleetRow } from '../../../../src/console-api/fleet/fleet-routes.ts';
import { useRowSelection } from '../../parts/row-selection.ts';

const NONE: readonly FleetRow[] = [];

/** The selected connections of the list. */
export function useFleetSelection(rows: readonly FleetRow[] = NONE) {
  const { chosen, toggle, clear } = useRowSelection(rows);
  // What a filter hides is not selected any more.
  const selected = useMemo(() => rows.filter(({ id }) => chosen.has(id)), [rows, chosen]);
  const ids = useMemo(() => new Set(selected.map(({ id }) => id)), [selected]);
  return { ids, toggle, clear, selected };
}
