import { Checkbox } from '../../parts/field.tsx';

/** Asks whether texts of queries are stored, with what follows from it. */
export function TextsQuestion({ isOn, onChange }: { isOn: boolean; onChange: (isOn: boolean) => void }) {
  return (
    <Checkbox isSelected={isOn} onChange={onChange}>
      Store query texts
      <span className="field-description">
        Queries then have their text, not only an id: for 14 days, without constants, for members who may
        change connections.
      </span>
    </Checkbox>
  );
}
