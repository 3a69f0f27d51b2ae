/**
 * Condition: a slot is this server's own. A standby copies others from its primary (17), where they are judged: nobody reads
 * from the copies, and nobody can drop them. After a promotion they are the new primary's own.
 */
export const ofThisServer = (version: number): string =>
  version < 170_000 ? 'true' : 'not (synced and pg_is_in_recovery())';
