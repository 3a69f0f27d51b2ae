import type { Finding } from '../checks/check.ts';
import type { Read } from '../store/read.ts';

/** A stored run without its findings. */
export interface Run {
  id: number;
  created_at: Date;
  score: number;
  summary_text: string;
  /** Whether its findings are still stored. */
  complete: boolean;
  /** Whether the connection was in a maintenance window. */
  in_maintenance: boolean;
}

const runColumns = `health_check_id as id, created_at, score, summary_text, findings is not null as complete, in_maintenance`;

export const listedRuns = `
  select ${runColumns}
    from health_check
   where account_id = $1 and connection_id = $2
     and ($3::bigint is null
          or (created_at, health_check_id)
             < (select created_at, health_check_id from health_check where account_id = $1 and health_check_id = $3))
   order by created_at desc, health_check_id desc
   limit $4`;

/** A page of a connection's runs, newest first: those before the run `before`, or the newest if it is null. */
export function listRuns(
  read: Read,
  accountId: number,
  connectionId: number,
  { before, limit }: { before: number | null; limit: number },
): Promise<Run[]> {
  return read<Run>(listedRuns, [accountId, connectionId, before, limit]);
}

const chosen = `
  select ${runColumns}, findings
    from health_check
   where account_id = $1 and connection_id = $2 and health_check_id = any($3::bigint[])`;

/** Two runs of a connection with their findings, or null for the findings of an old run. Null if a run does not exist. */
export async function readRuns(
  read: Read,
  accountId: number,
  connectionId: number,
  ids: { from: number; to: number },
): Promise<Record<'from' | 'to', Run & { findings: Finding[] | null }> | null> {
  const rows = await read<Run & { findings: Finding[] | null }>(chosen, [
    accountId,
    connectionId,
    [ids.from, ids.to],
  ]);
  const from = rows.find(({ id }) => id === ids.from);
  const to = rows.find(({ id }) => id === ids.to);
  return from && to ? { from, to } : null;
}
