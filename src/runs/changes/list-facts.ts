import type { Read } from '../../store/read.ts';
import type { Fact, StoredFacts } from './facts.ts';

/** A setting, version or extension of a server, as the latest run that read it found it. */
export interface ListedFact {
  kind: 'setting' | 'version' | 'extension';
  /** '' = the whole server. */
  database: string;
  subject: string;
  value: string;
  /** Where a setting is set; null = not known, or no setting. */
  source: string | null;
}

const select = `
  select database, facts
    from fact_snapshot
   where account_id = $1 and connection_id = $2 and kind in ('setting', 'role_setting', 'server', 'extension')
   order by kind, database`;

/** The settings, version and extensions of a connection's server. Values that may be secret are hashed. */
export async function listFacts(read: Read, accountId: number, connectionId: number): Promise<ListedFact[]> {
  const rows = await read<{ database: string; facts: StoredFacts }>(select, [accountId, connectionId]);
  return rows.flatMap(({ database, facts: { facts } }) => facts.flatMap((fact) => listed(fact, database)));
}

function listed([kind, subject, value, more]: Fact, database: string): ListedFact[] {
  if (kind !== 'setting' && kind !== 'version' && kind !== 'extension') return [];
  return [{ kind, database: more?.database ?? database, subject, value, source: more?.source ?? null }];
}
