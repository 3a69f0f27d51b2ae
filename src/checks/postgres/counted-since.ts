// When a session crashes, all statistics are lost although the server is not started anew. From 15 on only fixed ones, such
// as the archiver's, tell.
export const LOST_AT = '(select stats_reset from pg_stat_archiver)';

/** Expression: when the statistics whose last reset was at `reset` began anew, other than by a start of the server. */
export function resetAt(reset: string): string {
  return `greatest(${reset}, ${LOST_AT})`;
}

/** Expression: since when statistics have been counted, whose last reset was at `reset`. */
export function countedSince(reset: string): string {
  return `greatest(${resetAt(reset)}, pg_postmaster_start_time())`;
}

/** Expression: whether the login may run {@link PROMOTION}. A statement that names the function fails if it may not. */
export const SEES_PROMOTION = `has_function_privilege('pg_ls_waldir()', 'execute')`;

/** How long the server has been a primary; null if it always was. It writes the history of its timeline when it is promoted. */
export const PROMOTION = `
  select extract(epoch from now() - max(modification))::float8 as promoted_seconds
    from pg_ls_waldir()
   where name ~ '[.]history$'`;
