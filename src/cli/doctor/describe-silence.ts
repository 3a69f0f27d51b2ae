import type pg from 'pg';
import { listSilent } from '../../accounts/collectors/watch-collectors.ts';
import type { Diagnosis } from './diagnosis.ts';

const MOST_NAMED = 5;

/** Which collectors are silent, and what to do; null if none is. */
export async function describeSilence(
  writer: pg.Pool,
): Promise<Pick<Diagnosis, 'message' | 'remedy'> | null> {
  const silent = await listSilent(writer);
  if (silent.length === 0) return null;
  const named = silent
    .slice(0, MOST_NAMED)
    .map(({ account_id, name }) => `"${name}" of account ${account_id}`);
  const more = silent.length > MOST_NAMED ? ` and ${silent.length - MOST_NAMED} more` : '';
  return {
    message: `Collectors that were not heard of for a minute: ${named.join(', ')}${more}.`,
    remedy: 'Start "dbvitals collect" there, or read its log: their databases are not checked.',
  };
}
