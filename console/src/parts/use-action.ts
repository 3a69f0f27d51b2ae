import { useMutation, useQueryClient } from '@tanstack/react-query';
import { notify } from './announcer.tsx';

interface ActionOptions<Answer> {
  request: () => Promise<Answer>;
  /** The first parts of the keys of queries that show what it changes: they are read again. */
  renews?: readonly string[];
  /** Said when it is done. */
  done?: string;
  onDone?: (answer: Answer) => unknown;
}

/** A request that changes something, for a dialog, a form or a button. Its answer is forgotten with the component, as it may hold a secret. */
export function useAction<Answer>({ request, renews = [], done, onDone }: ActionOptions<Answer>) {
  const renew = useRenew(renews);
  return useMutation({
    mutationFn: request,
    gcTime: 0,
    async onSuccess(answer: Answer) {
      await renew();
      await onDone?.(answer);
      if (done !== undefined) notify(done);
    },
  });
}

/** Reads again what queries with these first parts of their keys show. */
export function useRenew(keys: readonly string[]): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await Promise.all(keys.map((key) => queries.invalidateQueries({ queryKey: [key] })));
  };
}
