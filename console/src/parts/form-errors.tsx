import { createContext, type ReactNode, useContext, useLayoutEffect, useMemo, useState } from 'react';
import { ApiError, fieldError } from '../api.ts';

/** The error of a form's last request, and the parameters that have a field in it. */
const Errors = createContext<{ error: unknown; fields: Set<string> }>({ error: null, fields: new Set() });

/** Gives the fields in it the error of a form's last request: that about a parameter stands at its field. */
export function FormErrors({ error, children }: { error: unknown; children: ReactNode }) {
  const [fields] = useState(() => new Set<string>());
  const errors = useMemo(() => ({ error, fields }), [error, fields]);
  return <Errors value={errors}>{children}</Errors>;
}

/** What the service said about parameters; null for nothing. */
export function useParameterError(parameters: string | readonly string[]): string | null {
  const { error } = useContext(Errors);
  return (
    [parameters]
      .flat()
      .map((name) => fieldError(error, name))
      .find((text) => text !== null) ?? null
  );
}

/** What the service said about the parameters of a field: it stands there, not below the form. */
export function useFieldError(parameters: string | readonly string[] = []): string | null {
  const { fields } = useContext(Errors);
  const key = [parameters].flat().join();
  useLayoutEffect(() => {
    const own = key.split(',');
    for (const name of own) fields.add(name);
    return () => {
      for (const name of own) fields.delete(name);
    };
  }, [key, fields]);
  return useParameterError(parameters);
}

/** Whether an error stands at a field of the form around. */
export function useHasField(error: unknown): boolean {
  const { fields } = useContext(Errors);
  return error instanceof ApiError && error.parameter !== null && fields.has(error.parameter);
}
