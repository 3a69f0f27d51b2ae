import './more-filters.css';
import { type ReactNode, useId, useState } from 'react';
import { Button } from './button.tsx';

interface MoreFiltersProps {
  children: ReactNode;
  /** One of the filters restricts the list. */
  isUsed: boolean;
}

/** Filters that are used less: on narrow screens folded behind a button while none is used, so that the list comes first. */
export function MoreFilters({ children, isUsed }: MoreFiltersProps) {
  const [isOpened, setOpened] = useState(false);
  const isOpen = isOpened || isUsed;
  const id = useId();
  return (
    <>
      {!isUsed && (
        <div className="filters-toggle">
          <Button
            aria-controls={id}
            aria-expanded={isOpen}
            icon={isOpen ? 'up' : 'down'}
            onPress={() => setOpened(!isOpen)}
            small
          >
            More filters
          </Button>
        </div>
      )}
      <div className={isOpen ? 'more-filters' : 'more-filters folded'} id={id}>
        {children}
      </div>
    </>
  );
}
