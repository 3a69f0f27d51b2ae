import { read } from './ask.ts';
import type { Entry, List } from './records.ts';

/** Reads an account's log from its start, or from after an id, as a collector does. */
export async function readLog(key: string, afterId = 0, origin?: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const after = entries.at(-1)?.id ?? afterId;
    const path = `/api/v1/activity?order=asc&per_page=100&after_id=${after}`;
    const { data } = await read<List<Entry>>(path, key, origin === undefined ? {} : { origin });
    entries.push(...data);
    if (data.length < 100) return entries;
  }
}

/** The entries of API requests among them, by request id. Throws when two share one. */
export function byRequestId(entries: Entry[]): Map<unknown, Entry> {
  const requests = entries.filter(({ action_type }) => action_type === 'api_request');
  const found = new Map(requests.map((entry) => [entry.properties['request_id'], entry]));
  if (found.size !== requests.length)
    throw new Error(`${requests.length - found.size} entries are there twice`);
  return found;
}
