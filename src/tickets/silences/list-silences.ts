import type { SilenceRow } from './silence-row.ts';

/** The active silences of account $1, or of its connection $2 unless that is null: `SilenceRow`s ordered by id. */
export const silencesInForce = `
  select s.silence_id as id, s.connection_id, s.check_id, s.object, s.reason, s.note, s.created_at,
         s.ends_at as until
    from silence s
    join connection c using (account_id, connection_id)
   where s.account_id = $1
     and ($2::bigint is null or s.connection_id = $2)
     and (s.ends_at is null or s.ends_at > clock_timestamp())
     and c.removed_at is null
   order by s.silence_id`;

/** An active silence with its connection and author, as a page lists it. */
export interface ListedSilence extends SilenceRow {
  connection_name: string;
  /** Null = unknown: it is older than the column. */
  created_by: string | null;
  /** How many the account has. */
  total: number;
}

/** The newest active silences of account $1, at most $2: {@link ListedSilence}s. */
export const silencesOfAccount = `
  select s.silence_id as id, s.connection_id, c.name as connection_name, s.check_id, s.object, s.reason, s.note,
         s.created_at, s.created_by, s.ends_at as until, (count(*) over ())::int as total
    from silence s
    join connection c using (account_id, connection_id)
   where s.account_id = $1
     and (s.ends_at is null or s.ends_at > clock_timestamp())
     and c.removed_at is null
   order by s.created_at desc, s.silence_id desc
   limit $2`;
