import './selection.css';
import { createContext, useContext } from 'react';
import { Icon } from './icons.tsx';

interface Selection {
  ids: ReadonlySet<number>;
  /** With `isRange`, selects every row from the last one to this one. */
  toggle: (id: number, isRange?: boolean) => void;
}

export const SelectionContext = createContext<Selection>({ ids: new Set(), toggle: () => {} });

/** Selects a row; with Shift, the rows up to it. A button and no input, so that keys such as `x` work while it has the focus. */
export function SelectBox({ id, label }: { id: number; label: string }) {
  const { ids, toggle } = useContext(SelectionContext);
  const isSelected = ids.has(id);
  return (
    <button
      aria-label={`Select ${label}`}
      aria-pressed={isSelected}
      className="select-box"
      onClick={({ shiftKey }) => toggle(id, shiftKey)}
      type="button"
    >
      <span aria-hidden="true">{isSelected && <Icon name="check" size={12} />}</span>
    </button>
  );
}

/** The ids of a list from one row to another, in any order; only the latter, if the former is not listed. */
export function rangeOf(ids: readonly number[], from: number | null, to: number): number[] {
  const [start, end] = [ids.indexOf(from ?? to), ids.indexOf(to)];
  if (start === -1 || end === -1) return [to];
  return ids.slice(Math.min(start, end), Math.max(start, end) + 1);
}
