import type { ComponentProps } from 'react';
import { TextField } from '../../parts/field.tsx';

/** The field for a member's address. */
export function EmailField(props: Omit<ComponentProps<typeof TextField>, 'label'>) {
  return (
    <TextField {...props} autoComplete="off" isRequired label="E-mail address" maxLength={200} type="email" />
  );
}
