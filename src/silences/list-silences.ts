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
