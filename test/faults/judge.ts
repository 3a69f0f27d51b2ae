import type { Answer } from './load.ts';
import type { Stage } from './stage.ts';

/** Compares the log with the answers to authenticated requests. */
export interface Judged {
  /** Ids in such answers that are not in the log. */
  missing: number;
  /** Ids that occur in the log more than once. */
  twice: number;
  /** Entries whose id or time does not follow the previous entry of the account. */
  outOfOrder: number;
}

/** Reads the log directly from the store. Answers of 500 or 401 need no entry. */
export async function judge(stage: Pick<Stage, 'query'>, answers: readonly Answer[]): Promise<Judged> {
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
