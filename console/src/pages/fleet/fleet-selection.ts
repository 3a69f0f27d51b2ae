import { useCallback, useMemo, useRef, useState } from 'react';
import type { FleetRow } from '../../../../src/console-api/fleet/fleet-routes.ts';
import { announce } from '../../parts/announcer.tsx';
import { focusedRow } from '../../parts/keyboard-navigation.ts';
import { rangeOf } from '../../parts/selection.tsx';
import { useShortcut } from '../../parts/shortcut.ts';

const NONE: readonly FleetRow[] = [];

/** The selected connections of a list: `x` selects the focused row, `X` the rows up to it, Escape clears. */
export function useFleetSelection(rows: readonly FleetRow[] = NONE) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const last = useRef<number | null>(null);
  const toggle = useCallback(
    (id: number, isRange = false) => {
      const range = isRange
        ? rangeOf(
            rows.map((row) => row.id),
            last.current,
            id,
          )
        : [id];
      last.current = id;
      setChosen((old) => {
        const next = new Set(old);
        if (!isRange && next.delete(id)) return next;
        for (const one of range) next.add(one);
        return next;
      });
    },
    [rows],
  );
  const clear = useCallback(() => setChosen(new Set()), []);
  const select = (isRange: boolean, text: string) => {
    const row = rows[focusedRow()];
    if (!row) return;
    toggle(row.id, isRange);
    announce(text);
  };
  const focused = () => rows[focusedRow()]?.id ?? 0;
  useShortcut('x', () => select(false, chosen.has(focused()) ? 'Not selected' : 'Selected'));
  useShortcut('X', () => select(true, 'Selected up to this row'));
  useShortcut('Escape', clear, chosen.size > 0);
  // What a filter hides is not selected any more.
  const selected = useMemo(() => rows.filter(({ id }) => chosen.has(id)), [rows, chosen]);
  const ids = useMemo(() => new Set(selected.map(({ id }) => id)), [selected]);
  return { ids, toggle, clear, selected };
}
