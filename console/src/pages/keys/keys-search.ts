/** The page's search parameters. */
export interface KeysSearch {
  /** The form for a new key is open, with `name` and `note` filled in, so that it can be linked to. */
  create?: string;
  name?: string;
  note?: string;
  /** Only keys of this status. */
  status?: 'active' | 'expiring' | 'replaced' | 'revoked' | 'expired';
  sort?: string;
  /** The id of the shown key. */
  key?: string;
  /** The endpoint whose requests the key's chart counts; `none` for other paths; all by default. */
  endpoint?: string;
}

const STATUSES = ['active', 'expiring', 'replaced', 'revoked', 'expired'] as const;

/** Parses an untrusted URL. */
export function keysSearch(given: Record<string, string>): KeysSearch {
  const { create, name, note, sort, key, endpoint } = given;
  const status = STATUSES.find((known) => known === given['status']);
  return {
    ...(create && { create }),
    ...(name && { name: name.slice(0, 200) }),
    ...(note && { note: note.slice(0, 1_000) }),
    ...(status && { status }),
    ...(sort && /^-?[a-z]+$/.test(sort) && { sort }),
    ...(key && /^[1-9][0-9]{0,15}$/.test(key) && { key }),
    ...(endpoint && { endpoint: endpoint.slice(0, 200) }),
  };
}
