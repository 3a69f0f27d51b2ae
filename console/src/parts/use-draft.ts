import { useState } from 'react';

type TextKey<Draft> = { [Key in keyof Draft]: Draft[Key] extends string ? Key : never }[keyof Draft] & string;

/** What a field of a form needs. */
interface Bound {
  value: string;
  onChange: (value: string) => void;
  /** The parameter of the request whose error stands at the field. */
  parameter: string | readonly string[];
}

/** What a part of a form needs to show the fields of a draft. */
export interface FieldsProps<Draft> {
  draft: Draft;
  /** Called with what the user changed. */
  onChange: (changed: Partial<Draft>) => void;
}

/** Binds fields to the values of a draft, whose names are those of the request's parameters in camel case. */
export function bindTo<Draft extends object>(draft: Draft, change: (changed: Partial<Draft>) => void) {
  return (key: TextKey<Draft>, parameter: Bound['parameter'] = toSnakeCase(key)): Bound => ({
    value: String(draft[key]),
    onChange: (value) => change({ [key]: value } as Partial<Draft>),
    parameter,
  });
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The values of a form, whether the user changed one, what changes some, and what binds its fields to them. */
export function useDraft<Draft extends object>(initial: Draft | (() => Draft)) {
  const [draft, setDraft] = useState(initial);
  const [isChanged, setChanged] = useState(false);
  const change = (changed: Partial<Draft>) => {
    setDraft((old) => ({ ...old, ...changed }));
    setChanged(true);
  };
  return { draft, isChanged, change, bind: bindTo(draft, change) };
}
