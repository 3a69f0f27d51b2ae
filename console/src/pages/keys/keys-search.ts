import { idIn, matching, oneOf, present } from '../../parts/search-params.ts';

/** The statuses of keys, in the order of the filter. */
export const KEY_STATUSES = ['active', 'expiring', 'replaced', 'revoked', 'expired'] as const;

/** Parses an untrusted URL. */
export function keysSearch(given: Record<string, string | undefined>) {
  return present({
    /** The form for a new key is open, with `name` and `note` filled in, so that it can be linked to. */
    create: given['create'],
    name: given['name']?.slice(0, 200),
    note: given['note']?.slice(0, 1_000),
    status: oneOf(KEY_STATUSES, given['status']),
    sort: matching(/^-?[a-z]+$/, given['sort']),
    /** The id of the shown key. */
    key: idIn(given['key']),
    /** The endpoint whose requests the key's chart counts; `none` for other paths; all by default. */
    endpoint: given['endpoint']?.slice(0, 200),
  });
}
