import './more-filters.css';
import { type ReactNode, useId, useState } from 'react';
import { Button } from './button.tsx';

interface MoreFiltersProps {
  children: ReactNode;
  /** How many of the filters restrict the list. */
  used: number;
  /** What stands after the button. */
  actions?: ReactNode;
}

/** The end of a row of filters: a button for the filters that are used less, open while one of them is used. */
export function MoreFilters({ children, used, actions }: MoreFiltersProps) {
  const [isChosen, setChosen] = useState<boolean | null>(null);
  const isOpen = isChosen ?? used > 0;
  const id = useId();
  return (
    <>
      <Button
        aria-controls={id}
        aria-expanded={isOpen}
        icon={isOpen ? 'up' : 'down'}
        onPress={() => setChosen(!isOpen)}
        small
      >
        Filter{used > 0 && ` (${used})`}
      </Button>
      {actions}
      <div className="more-filters filters" hidden={!isOpen} id={id}>
        {children}
      </div>
    </>
  );
}

/** How many of these values are set. */
export function countSet(...values: readonly unknown[]): number {
  return values.filter((value) => value !== undefined).length;
}
