import type { Sort } from '../../parts/table.tsx';
import type { ApiKeyState } from './api-key-state.ts';

/** Parses the URL's `sort`: `-used` = by last use, descending. */
export function sortOf(sort: string): Sort {
  const descending = sort.startsWith('-');
  return { column: descending ? sort.slice(1) : sort, descending };
}

const SORTED_BY: Record<string, (key: ApiKeyState) => string | number> = {
  name: ({ subject }) => subject.name.toLowerCase(),
  created: ({ subject }) => subject.created_at,
  used: ({ lastUsedAt }) => lastUsedAt ?? '',
  // Those without an end come last.
  expires: ({ subject }) => subject.expires_at ?? '9999',
  requests: ({ subject }) => subject.requests_24h ?? -1,
};

/** The keys in the order of the URL's `sort`; ties stay in their order, newest first. */
export function sorted(keys: ApiKeyState[], sort: string): ApiKeyState[] {
  const { column, descending } = sortOf(sort);
  const value = SORTED_BY[column];
  if (!value) return keys;
  const order = descending ? -1 : 1;
  return keys.toSorted((a, b) => {
    const [x, y] = [value(a), value(b)];
    return x === y ? 0 : (x < y ? -1 : 1) * order;
  });
}
