import { nextPage } from '../../parts/next-page.ts';

/** Where to go after the answer. */
export interface InvitationsSearch {
  next?: string;
}

/** Parses an untrusted URL: `next` is a page of this service or nothing. */
export function invitationsSearch({ next }: Record<string, string>): InvitationsSearch {
  return nextPage(next);
}
