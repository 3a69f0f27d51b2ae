import { nextPage } from '../../parts/next-page.ts';
import { isSignOnError, type Refusal } from './sign-on-errors.ts';

/** Where to go after signing in, and what single sign-on said when it failed. */
export interface SignInSearch {
  next?: string;
  error?: Refusal;
}

/** Parses an untrusted URL: `next` is a page of this service or nothing. */
export function signInSearch({ next, error }: Record<string, string>): SignInSearch {
  return { ...nextPage(next), ...(isSignOnError(error) && { error }) };
}
