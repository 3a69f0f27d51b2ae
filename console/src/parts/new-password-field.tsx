import type { ComponentProps } from 'react';
import { TextField } from './field.tsx';

/** A field for a password that is being chosen. */
export function NewPasswordField(props: ComponentProps<typeof TextField>) {
  return (
    <TextField
      {...props}
      autoComplete="new-password"
      description="12 characters or more. A long passphrase is easier to remember than a complex password."
      isRequired
      minLength={12}
      type="password"
    />
  );
}
