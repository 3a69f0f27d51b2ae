import type { CsvEntry } from '../../activity/csv-entry.ts';
import type { ActivityEntry } from '../../api/endpoints/entries.ts';
import type { Static } from '../../platform/schema/schema.ts';

const EMPTY = {
  status: null,
  method: null,
  error_code: null,
  query: null,
  request_id: null,
  api_key_id: null,
  source_ip: null,
  user_agent: null,
};

/** The columns of an entry: a request's properties have columns of their own. */
export function entryColumns({ properties, ...entry }: Static<typeof ActivityEntry>): CsvEntry {
  if (entry.action_type !== 'api_request') return { ...EMPTY, ...entry, properties };
  const { api_key_name: _, ...request } = properties;
  return { ...EMPTY, ...request, ...entry, properties: null };
}
