import type { ReactNode } from 'react';
import { FormErrors } from './form-errors.tsx';
import { FormError } from './states.tsx';

interface FormProps {
  className?: string;
  onSubmit: () => void;
  /** Of the last request. */
  error: unknown;
  /** What to do about it. */
  remedy?: ReactNode;
  children: ReactNode;
}

/** A form on a page. An error about a field stands there, any other one below the form's button. */
export function Form({ className, onSubmit, error, remedy, children }: FormProps) {
  return (
    <FormErrors error={error}>
      <form
        className={className}
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
        <FormError error={error}>{remedy}</FormError>
      </form>
    </FormErrors>
  );
}
