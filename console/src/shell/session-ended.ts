import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api.ts';

/** Calls `onEnded` when anything that a page asks is answered 401: the session was ended elsewhere, or is over. */
export function watchSession(queries: QueryClient, onEnded: () => void): void {
  const look = (error: unknown) => {
    if (error instanceof ApiError && error.status === 401) onEnded();
  };
  queries.getQueryCache().config.onError = look;
  queries.getMutationCache().config.onError = look;
}

/** Nothing of a session may stay for whoever signs in next; what the sign-in page asked by then does. */
export function forgetSession(queries: QueryClient): void {
  queries.getMutationCache().clear();
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'sign-in' });
}
