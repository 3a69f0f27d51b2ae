import { useState } from 'react';

/** The values of a form, whether the user changed one, and what changes some. */
export function useDraft<Draft extends object>(initial: () => Draft) {
  const [draft, setDraft] = useState(initial);
  const [isChanged, setChanged] = useState(false);
  const change = (changed: Partial<Draft>) => {
    setDraft((old) => ({ ...old, ...changed }));
    setChanged(true);
  };
  return { draft, isChanged, change };
}
