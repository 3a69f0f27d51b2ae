/**
 * What is known of the backups of connection `c`, as `BackupFacts` of checks/backups; null if none was ever expected or
 * reported.
 */
export const backupFacts = `
  (select case when c.backup_expected_since is not null or last.at is not null or failed.at is not null
               then jsonb_build_object(
                      'expectedSeconds', c.backup_expected_seconds,
                      'expectedFor', extract(epoch from now() - c.backup_expected_since),
                      'age', extract(epoch from now() - last.at),
                      'failedAge', extract(epoch from now() - failed.at),
                      'bytes', sized.bytes,
                      'bytesBefore', (select b.bytes from backup_report b
                                       where b.account_id = c.account_id and b.connection_id = c.connection_id
                                         and b.succeeded and b.bytes > 0 and b.source = sized.source and b.at < sized.at
                                       order by b.at desc limit 1)) end
     from (select max(at) filter (where succeeded) as at from backup_report b
            where b.account_id = c.account_id and b.connection_id = c.connection_id) last
    cross join (select max(at) filter (where not succeeded) as at from backup_report b
                 where b.account_id = c.account_id and b.connection_id = c.connection_id) failed
     left join (select b.source, b.at, b.bytes from backup_report b
                 where b.account_id = c.account_id and b.connection_id = c.connection_id
                   and b.succeeded and b.bytes is not null
                 order by b.at desc limit 1) sized on true)`;
