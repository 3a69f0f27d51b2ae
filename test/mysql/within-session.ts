import { LIMITS } from '../../src/monitor/limits.ts';
import { diallerOf } from '../../src/monitor/session/dial.ts';
import { openMysqlSession } from '../../src/monitor/session/mysql-session.ts';
import type { OpenedSession, Target } from '../../src/monitor/session/session.ts';

/** Opens a session like a run, and closes it after `use`. */
export async function withinSession<T>(
  target: Target,
  use: (session: OpenedSession) => Promise<T>,
  { limits = LIMITS, meter = { bytes: 0, statements: 0, milliseconds: 0 } } = {},
): Promise<T> {
  const dialler = diallerOf(target, true);
  const ends = { connecting: AbortSignal.timeout(limits.connectMs), signal: AbortSignal.timeout(20_000) };
  try {
    const endpoint = { host: target.host, port: target.port };
    const stream = await dialler.dial(endpoint, ends.connecting);
    const route = { ...endpoint, stream, meter, limits };
    const session = await openMysqlSession(target, target.database, route, ends);
    try {
      return await use(session);
    } finally {
      await session.close();
    }
  } finally {
    dialler.close();
  }
}
