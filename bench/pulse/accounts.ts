import { setTimeout as wait } from 'node:timers/promises';
import { PostgresServer } from '../../test/checks/postgres-server.ts';
import { startTestStore } from '../../test/support/store.ts';
import type { Figure } from '../one-run.ts';
import { memoryOf } from '../processes.ts';
import { startProgram, stopProgram } from '../start-program.ts';
import { addConnections, makeRoom } from './add-connections.ts';

const CONNECTIONS = 10;

/** Measures the memory that the pulses of an account take, in MB: each account has a child process of its own. */
export async function measureAccounts(figure: Figure, accounts: number, limit?: number): Promise<void> {
  const [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
  await makeRoom(server, accounts * CONNECTIONS);
  const monitor = startProgram(store, 'monitor');
  try {
    await wait(10_000);
    const pid = monitor.pid ?? 0;
    const before = memoryOf(pid);
    for (let n = 0; n < accounts; n++)
      await addConnections(store, server, { count: CONNECTIONS, checks: 'none' });
    console.log(`${accounts} accounts with ${CONNECTIONS} connections each`);
    const client = await server.open();
    for (let sessions = 0; sessions < accounts * CONNECTIONS; await wait(1_000)) {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where usename = 'watcher'`,
      );
      sessions = rows[0]?.count ?? 0;
    }
    await client.end();
    await wait(20_000); // two pulses of each
    const { pss, processes } = memoryOf(pid);
    figure('processes', processes, '');
    figure('memory of the monitor without accounts', before.pss, 'MB');
    figure('memory of the monitor and its children', pss, 'MB');
    figure('memory of an account', (pss - before.pss) / accounts, 'MB', limit);
  } finally {
    await stopProgram(monitor);
    await Promise.all([store.stop(), server.stop()]);
  }
}
