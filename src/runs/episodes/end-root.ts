import { NO_BACKUP } from '../../checks/mysql/backups.ts';
import { exactly } from '../../checks/mysql/quote.ts';
import { isNoDump } from '../../checks/postgres/backups.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import type { BlockingEpisode, TreeSession } from './blocking-episode.ts';

/** Programs whose sessions are no accident: a backup that is ended has to be taken again. */
const BACKUPS = new Set(['pg_dump', 'pg_dumpall', 'pg_basebackup']);

/** Names that MySQL and MariaDB give sessions of their own: KILL would stop replication or the scheduler. */
const SERVER_USERS = new Set(['', 'system user', 'event_scheduler']);

/** Seconds in which the start of a session, a double, is found again. */
const STARTED_WITHIN = 0.001;

/**
 * The statement that ends the session that blocks others, and hits no other one: the process ID may have a new session by the
 * time it is pasted. MySQL and MariaDB print what to run. Null if the session is unknown, is of the server or a backup, or if
 * the episode is over.
 */
export function endRoot(
  engine: Engine,
  { root, ended_at, trees }: Pick<BlockingEpisode, 'root' | 'ended_at' | 'trees'>,
): string | null {
  const session = trees.at(-1)?.root ?? null;
  const [pid = 0, started = 0] = root.split('/').map(Number);
  if (ended_at !== null || session === null || !Number.isSafeInteger(pid) || pid <= 0) return null;
  return engine === 'postgres' ? endBackend(pid, started, session) : killSession(pid, session);
}

// A process of the server, such as autovacuum, has no role.
function endBackend(pid: number, started: number, { application, role }: TreeSession): string | null {
  if (BACKUPS.has(application) || role === '' || !(started > 0)) return null;
  return `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ${pid} AND backend_type = 'client backend' AND abs(extract(epoch FROM backend_start) - ${started}) < ${STARTED_WITHIN} AND ${isNoDump('pid')};`;
}

function killSession(pid: number, { role }: TreeSession): string | null {
  if (SERVER_USERS.has(role)) return null;
  return `SELECT concat('KILL ', id, ';') AS statement FROM information_schema.processlist WHERE id = ${pid} AND user = ${exactly(role)} AND command NOT LIKE 'Binlog Dump%' AND ${NO_BACKUP}; -- run what it prints`;
}
