import { nextPage } from '../../parts/next-page.ts';

/** Where to go after the answer. */
export interface InvitationsSearch {
  next?: string;
}

/** Reads it from an address that anyone may have written: `next` is a page of this service or nothing. */
export function invitationsSearch({ next }: Record<string, string>): InvitationsSearch {
  return nextPage(next);
}
