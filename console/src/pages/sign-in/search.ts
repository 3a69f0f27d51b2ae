import { isRefusal, type Refusal } from './refusals.ts';

/** Where to go after signing in, and what single sign-on said when it failed. */
export interface SignInSearch {
  next?: string;
  error?: Refusal;
}

// Whatever the page's own origin is, a path keeps it.
const ORIGIN = 'http://localhost';

/** Reads it from an address that anyone may have written: `next` is a path of this service or nothing. */
export function signInSearch({ next, error }: Record<string, string>): SignInSearch {
  const isPath = next?.startsWith('/') && URL.parse(next, ORIGIN)?.origin === ORIGIN;
  return { ...(isPath && { next }), ...(isRefusal(error) && { error }) };
}
