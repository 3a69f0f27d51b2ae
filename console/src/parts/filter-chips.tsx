import './filter-chips.css';
import { ToggleButton } from 'react-aria-components/ToggleButton';
import { ToggleButtonGroup } from 'react-aria-components/ToggleButtonGroup';
import { type Status, StatusMark } from './status-mark.tsx';

interface Chip {
  id: string;
  label: string;
  /** The count; hidden while undefined. */
  count?: number | undefined;
  status?: Status;
}

interface FilterChipsProps {
  /** What is filtered, such as "Status". */
  label: string;
  chips: readonly Chip[];
  /** The chip that is pressed; null is no filter. */
  value: string | null;
  onChange: (id: string | null) => void;
}

/** Filter buttons with counts: pressing one filters the list, pressing it again clears the filter. */
export function FilterChips({ label, chips, value, onChange }: FilterChipsProps) {
  return (
    <ToggleButtonGroup
      aria-label={label}
      className="filter-chips"
      onSelectionChange={(keys) => onChange([...keys].map(String).find((id) => id !== value) ?? null)}
      selectedKeys={value === null ? [] : [value]}
      // Toggle buttons; `single` would make them radio buttons, which can't be cleared.
      selectionMode="multiple"
    >
      {chips.map(({ id, label: word, count, status }) => (
        <ToggleButton className="filter-chip" id={id} key={id}>
          {status ? <StatusMark quiet status={status} word={word} /> : <span>{word}</span>}
          {count !== undefined && <span className="filter-count">{count.toLocaleString('en')}</span>}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}
