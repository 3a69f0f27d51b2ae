import type { Answer } from './load.ts';
import type { Stage } from './stage.ts';

/** How the log stands against the answers of authenticated requests. */
export interface Judged {
  /** Ids that a client received with such an answer, and that are not in the log. */
  missing: number;
  /** Ids that are in the log more than once. */
  twice: number;
  /** Entries whose id or time does not follow that of the entry before, in any account. */
  outOfOrder: number;
}

/** Judges by the store itself, past the API. An answer of 500 or 401 promises nothing of the log. */
export async function judge(stage: Stage, answers: readonly Answer[]): Promise<Judged> {
  const promised = answers.filter(({ status }) => status !== 500 && status !== 401).map(({ id }) => id);
  const [row] = await stage.query<{ missing: number; twice: number; out_of_order: number }>(
    `select (select count(*) from unnest($1::uuid[]) as p (id)
              where not exists (select from activity where request_id = p.id))::int as missing,
            (select count(*) from (select from activity where request_id is not null
                                    group by request_id having count(*) > 1) as t)::int as twice,
            (select count(*) from (select id - lag(id, 1, 0::bigint) over (partition by account_id order by id) as step,
                                          occurred_at <= lag(occurred_at) over (partition by account_id order by id) as late
                                     from activity) as s where step <> 1 or late)::int as out_of_order`,
    [promised],
  );
  return { missing: row?.missing ?? -1, twice: row?.twice ?? -1, outOfOrder: row?.out_of_order ?? -1 };
}
