import { isRefusal, type Refusal } from './refusals.ts';

/** Where to go after signing in, and what single sign-on said when it failed. */
export interface SignInSearch {
  next?: string;
  error?: Refusal;
}

// A path of a page, which no browser takes for an address elsewhere; single sign-on is told it and has the same
// (src/console/single-sign-on.ts).
const PAGE = /^(?:\/[\w-]+)+\/?(?:[?#][!-~]*)?$/;
const LONGEST = 1_000;

/** Reads it from an address that anyone may have written: `next` is a page of this service or nothing. */
export function signInSearch({ next = '', error }: Record<string, string>): SignInSearch {
  const isPage = next.length <= LONGEST && PAGE.test(next);
  return { ...(isPage && { next }), ...(isRefusal(error) && { error }) };
}
