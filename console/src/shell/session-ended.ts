import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api.ts';
import { forgetUndo } from '../parts/undo.ts';

/** Calls `onEnded` when any request gets a 401: the session was ended elsewhere or has expired. */
export function watchSession(queries: QueryClient, onEnded: () => void): void {
  const look = (error: unknown) => {
    if (error instanceof ApiError && error.status === 401) onEnded();
  };
  queries.getQueryCache().config.onError = look;
  queries.getMutationCache().config.onError = look;
}

/** Removes all data of the session, so that the next person sees none of it. Data of the sign-in page stays. */
export function forgetSession(queries: QueryClient): void {
  forgetUndo();
  queries.getMutationCache().clear();
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'sign-in' });
}
