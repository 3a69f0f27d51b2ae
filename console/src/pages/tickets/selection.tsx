import { createContext, useContext } from 'react';
import { Icon } from '../../parts/icons.tsx';
import type { Ticket } from './tickets-query.ts';

interface Selection {
  ids: ReadonlySet<number>;
  toggle: (id: number) => void;
}

export const SelectionContext = createContext<Selection>({ ids: new Set(), toggle: () => {} });

/** Selects a ticket. A button and no input, so that keys such as `x` work while it has the focus. */
export function SelectBox({ ticket: { id, title } }: { ticket: Ticket }) {
  const { ids, toggle } = useContext(SelectionContext);
  const isSelected = ids.has(id);
  return (
    <button
      aria-pressed={isSelected}
      aria-label={`Select ticket ${id}: ${title}`}
      className="select-box"
      onClick={() => toggle(id)}
      type="button"
    >
      <span aria-hidden="true">{isSelected && <Icon name="check" size={12} />}</span>
    </button>
  );
}
