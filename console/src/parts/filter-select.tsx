import { type Choice, Select } from './field.tsx';

interface FilterSelectProps {
  /** What is filtered. Not visible. */
  label: string;
  /** No filter, such as "All roles". */
  all: string;
  choices: readonly Choice[];
  chosen: string | undefined;
  /** Names a chosen id that is not among the choices. */
  unlisted?: string | undefined;
  onChange: (id: string | undefined) => void;
}

/** A dropdown that filters a list. What an address chooses is a choice too. */
export function FilterSelect({ label, all, choices, chosen, unlisted, onChange }: FilterSelectProps) {
  const isListed = chosen === undefined || choices.some(({ id }) => id === chosen);
  return (
    <Select
      choices={[
        { id: '', label: all },
        ...choices,
        ...(isListed ? [] : [{ id: chosen, label: unlisted ?? chosen }]),
      ]}
      hideLabel
      label={label}
      onChange={(id) => onChange(id || undefined)}
      value={chosen ?? ''}
    />
  );
}
