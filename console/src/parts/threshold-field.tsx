import type { ThresholdUnit } from '../../../src/vocabulary/threshold-units.ts';
import { TextField } from './field.tsx';
import { thresholdFromField, thresholdLabel, thresholdToField } from './threshold-value.ts';

interface ThresholdFieldProps {
  name: string;
  unit: ThresholdUnit;
  description: string;
  /** What holds while the field is empty. */
  inherited: number;
  text: string;
  onChange: (text: string) => void;
}

/** A threshold in the unit that people say: per cent, megabytes. */
export function ThresholdField({ name, unit, inherited, text, ...props }: ThresholdFieldProps) {
  return (
    <TextField
      {...props}
      error={thresholdFromField(text, unit) === undefined ? 'Enter a number from 0 to 1e15.' : null}
      label={thresholdLabel(name, unit)}
      placeholder={thresholdToField(inherited, unit)}
      value={text}
    />
  );
}
