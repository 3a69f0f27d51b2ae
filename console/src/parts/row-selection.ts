import { useCallback, useRef, useState } from 'react';
import { announce } from './announcer.tsx';
import { focusedRow } from './keyboard-navigation.ts';
import { rangeOf } from './selection.tsx';
import { useShortcut } from './shortcut.ts';

interface SelectionOptions {
  /** The most rows. */
  most?: number;
  /** Whether the keys select; by default they do. */
  canSelect?: boolean;
  /** Whether Escape clears the selection; by default it does. */
  canClear?: boolean;
}

/** The selected rows of a list by id, as they were then: `x` selects the focused row, `X` the rows up to it, Escape clears. */
export function useRowSelection<Row extends { id: number }>(
  rows: readonly Row[],
  { most = Number.POSITIVE_INFINITY, canSelect = true, canClear = true }: SelectionOptions = {},
) {
  const [chosen, setChosen] = useState<ReadonlyMap<number, Row>>(new Map());
  const last = useRef<number | null>(null);
  const toggle = useCallback(
    (id: number, isRange = false) => {
      const listed = new Map(rows.map((row) => [row.id, row]));
      if (!listed.has(id)) return;
      const range = isRange ? rangeOf([...listed.keys()], last.current, id) : [id];
      last.current = id;
      setChosen((old) => {
        const next = new Map(old);
        if (!isRange && next.delete(id)) return next;
        for (const one of range) {
          const row = listed.get(one);
          if (row && next.size < most) next.set(one, row);
        }
        return next;
      });
    },
    [rows, most],
  );
  const clear = useCallback(() => setChosen(new Map()), []);
  const select = (isRange: boolean) => {
    const row = rows[focusedRow()];
    if (!canSelect || !row) return;
    toggle(row.id, isRange);
    announce(isRange ? 'Selected up to this row' : chosen.has(row.id) ? 'Not selected' : 'Selected');
  };
  useShortcut('x', () => select(false));
  useShortcut('X', () => select(true));
  useShortcut('Escape', clear, canClear && chosen.size > 0);
  return { chosen, setChosen, toggle, clear };
}
