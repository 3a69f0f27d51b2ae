import type { Read } from '../../store/read.ts';
import type { LoadDimension } from '../../vocabulary/load-dimensions.ts';

/** The load of a connection over time: the largest parts, and the rest. */
export interface LoadHistory {
  /** Seconds from one point to the next. */
  step: number;
  /** Unix seconds; a point is missing where no pulse looked. */
  at: number[];
  /** The largest first: the average number of sessions at each point. A null name stands for all others. */
  parts: { name: string | null; sessions: number[] }[];
}

const STEPS = [60, 300, 900, 1_800, 3_600, 7_200, 21_600, 86_400];
const MOST_POINTS = 400;

/** After a day a row stands for five minutes. */
const MINUTES_KEPT_S = 86_400;
const AFTER_THAT_S = 300;

// Sessions that run wait for nothing; those idle in a transaction are a class of their own, whatever they wait for.
const NAMES: Readonly<Record<LoadDimension, string>> = {
  wait: `case when state <> 'active' then state when wait = '' then 'running' else wait end`,
  query: 'query',
  role: 'role',
  application: 'application',
  database: 'database',
};

const history = (name: string) => `
  with span as materialized (
    select floor(extract(epoch from at) / $5) * $5 as bin, minutes, active + idle_in_transaction as total, sources, sessions
      from session_load
     where account_id = $1 and connection_id = $2 and at >= $3 and at < $4
  ), bin as (
    select bin, sum(minutes) as minutes, sum(total * minutes) as total from span group by bin
  ), source as (
    select bin, source_id, sum(s.sessions * minutes) as total
      from span, unnest(sources, span.sessions) s (source_id, sessions)
     group by bin, source_id
  ), part as (
    select bin, ${name} as name, sum(total) as total
      from source
      join session_load_source using (source_id)
     where account_id = $1 and connection_id = $2 and ($7::text is null or query = $7)
     group by 1, 2
  ), largest as (
    select name from part group by name order by sum(total) desc, name limit $6
  )
  select bin::float8 as at,
         case when $7::text is null then bin.total
              else coalesce((select sum(p.total) from part p where p.bin = bin.bin), 0) end / minutes as total,
         coalesce(array_agg(name order by name) filter (where name is not null), '{}') as names,
         coalesce(array_agg(part.total / minutes order by name) filter (where name is not null), '{}')::float8[] as sessions
    from bin
    left join (select * from part join largest using (name)) part using (bin)
   group by bin, bin.total, minutes
   order by bin`;

interface Row {
  at: number;
  total: number;
  names: string[];
  sessions: number[];
}

/**
 * The load of a connection in a range, or that of one query, as at most 400 points, split into the `limit` largest parts
 * by a dimension.
 */
export async function readLoadHistory(
  read: Read,
  key: readonly [accountId: number, connectionId: number],
  by: LoadDimension,
  { from, to, limit, query }: { from: Date; to: Date; limit: number; query?: string | undefined },
): Promise<LoadHistory> {
  const step = chooseStep(from, to);
  const rows = await read<Row>(history(NAMES[by]), [...key, from, to, step, limit, query]);
  const sums = new Map<string, number>();
  for (const { names, sessions } of rows)
    names.forEach((name, place) => {
      sums.set(name, (sums.get(name) ?? 0) + (sessions[place] ?? 0));
    });
  const names = [...sums.keys()].toSorted((a, b) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0));
  const ofPart = (row: Row, name: string) => row.sessions[row.names.indexOf(name)] ?? 0;
  const parts: LoadHistory['parts'] = names.map((name) => ({
    name,
    sessions: rows.map((row) => ofPart(row, name)),
  }));
  const others = rows.map(({ total, sessions }) =>
    Math.max(0, total - sessions.reduce((sum, one) => sum + one, 0)),
  );
  if (others.some((sessions) => sessions >= 0.005)) parts.push({ name: null, sessions: others });
  return { step, at: rows.map(({ at }) => at), parts };
}

function chooseStep(from: Date, to: Date): number {
  const seconds = (to.getTime() - from.getTime()) / 1_000;
  const isOld = Date.now() / 1_000 - from.getTime() / 1_000 > MINUTES_KEPT_S + AFTER_THAT_S;
  const enough = STEPS.filter((step) => seconds / step <= MOST_POINTS && (!isOld || step >= AFTER_THAT_S));
  return enough[0] ?? MINUTES_KEPT_S;
}
