// Messages are in the language of lc_messages, which a login can't change. The function of PostgreSQL's source that raised an error is the same in each.
const OF_LIMITS = new Set(['InitializeSessionUserId', 'CheckMyDatabase']);

function routineOf(error: unknown): string | null {
  return error instanceof Error && 'routine' in error && typeof error.routine === 'string'
    ? error.routine
    : null;
}

/** Which limit of a login of MySQL or MariaDB (error 1226) is reached. The resource has its name in any language. */
export type LoginLimit = 'connections at once' | 'connections of an hour' | 'statements of an hour';

/** The limit of the login, or of the database, that refused a connection; null = that of the whole server. */
export function ownLimit(error: unknown, code: string, message: string): LoginLimit | null {
  if (code === '1203') return 'connections at once';
  if (code === '1226') {
    const [, resource = ''] = /'max_(\w+)'/.exec(message) ?? [];
    if (resource === 'connections_per_hour') return 'connections of an hour';
    return /^(?:questions|updates|queries_per_hour|updates_per_hour)$/.test(resource)
      ? 'statements of an hour'
      : 'connections at once';
  }
  const isOwn = OF_LIMITS.has(routineOf(error) ?? '') || / for (?:role|database) /.test(message);
  return code === '53300' && isOwn ? 'connections at once' : null;
}

/** Whether the role lacks CONNECT on the database, for an error with SQLSTATE 42501. Other statements are not refused at a login. */
export function isConnectDenied(error: unknown, message: string): boolean {
  return routineOf(error) === 'CheckMyDatabase' || /^permission denied for database /.test(message);
}
