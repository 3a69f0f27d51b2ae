import type { ComponentProps } from 'react';
import { zoneWords } from '../time-zone.ts';
import { TextField } from './field.tsx';

/** A field for a time in the chosen time zone, which its description names; `note` is a sentence after it. */
export function TimeField({
  label = 'Time',
  note = '',
  ...props
}: Omit<ComponentProps<typeof TextField>, 'label' | 'type' | 'description'> & {
  label?: string;
  note?: string;
}) {
  return (
    <TextField
      isRequired
      {...props}
      description={`In ${zoneWords()}. ${note}`.trimEnd()}
      label={label}
      type="datetime-local"
    />
  );
}
