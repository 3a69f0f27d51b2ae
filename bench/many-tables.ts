import { PostgresServer } from '../test/checks/postgres-server.ts';
import { postmasterOf } from './cost.ts';
import { costlyRun, printRun } from './costly-run.ts';
import { fillTables } from './fill-tables.ts';
import { type Figure, watchLocks } from './one-run.ts';
import { postgresTarget } from './watched-target.ts';

/** Measures what a run costs a PostgreSQL with so many tables of five rows, and prints its slowest checks. */
export async function measureManyTables(tables: number, figure: Figure): Promise<void> {
  const server = await PostgresServer.start();
  try {
    await server.run('alter system set fsync = off');
    await server.run('alter system set autovacuum = off');
    await server.run('grant pg_read_all_data to watcher'); // so that the estimates of bloat are measured too
    await server.restart();
    const began = performance.now();
    await fillTables(server, tables, 5);
    console.log(
      `${tables} tables, ${3 * tables} indexes, created in ${Math.round((performance.now() - began) / 1_000)} s`,
    );
    const target = postgresTarget(server);
    const pid = postmasterOf(server.host);
    const limit = tables <= 10_000 ? 3_000 : 10_000;
    for (const when of ['with cold caches', 'after that']) {
      const run = await costlyRun(target, pid);
      printRun(run);
      figure(`the server's processor time of a run ${when}`, run.seconds * 1_000, 'ms', limit);
    }
    const watching = watchLocks(server);
    await costlyRun(target, pid);
    const locks = await watching.stop();
    figure(
      `locks above ACCESS SHARE in ${locks.samples} samples`,
      locks.strong.size,
      [...locks.strong].join(', '),
      1,
    );
  } finally {
    await server.stop();
  }
}
