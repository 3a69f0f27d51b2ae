import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { PostgresServer } from '../../test/checks/postgres-server.ts';
import { startTestStore } from '../../test/support/store.ts';
import type { Figure } from '../one-run.ts';
import { descendantsOf, memoryOf } from '../processes.ts';
import { startProgram, stopProgram } from '../start-program.ts';
import { addConnections, makeRoom } from './add-connections.ts';
import { lateBy, watchPulses } from './watch-pulses.ts';

const EVERY_S = 10;
const LATE_LIMIT_S = 1;
const CPU_LIMIT_MS = 0.4;
const MEMORY_LIMIT_MB = 400;
/** A clock tick of /proc. */
const TICK_MS = 10;

/**
 * Measures the pulses of 1,000 connections of one account: how late they are, and what one takes of processor time and memory. Of fewer
 * connections the processor time has no limit: what the monitor does beside is most of it.
 */
export async function measureManyPulses(figure: Figure, connections = 1_000, measuredS = 120): Promise<void> {
  const [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
  await makeRoom(server, connections);
  await addConnections(store, server, { count: connections, checks: 'none' });
  const monitor = startProgram(store, 'monitor');
  try {
    console.log(`${connections} connections of one account, a pulse every ${EVERY_S} s`);
    await wait(60_000); // until each has its session
    const client = await server.open();
    const pid = monitor.pid ?? 0;
    const before = cpuOf(pid);
    const intervals = await watchPulses(client, measuredS);
    const spent = cpuOf(pid) - before;
    const late = lateBy(intervals, EVERY_S);
    figure('pulses', late.length, '');
    figure('pulses that were to come', (connections * measuredS) / EVERY_S, '');
    figure(
      'later than 10 s after the one before, p99',
      late[Math.floor(late.length * 0.99)] ?? Infinity,
      's',
      LATE_LIMIT_S,
    );
    const cpuLimit = connections >= 1_000 ? CPU_LIMIT_MS : undefined;
    figure('processor time of a pulse', (spent / (connections * measuredS)) * EVERY_S, 'ms', cpuLimit);
    const { pss, processes } = memoryOf(pid);
    figure(`memory of the monitor and its children (${processes} processes)`, pss, 'MB', MEMORY_LIMIT_MB);
    await client.end();
  } finally {
    await stopProgram(monitor);
    await Promise.all([store.stop(), server.stop()]);
  }
}

/** Processor time of a process and its descendants, in milliseconds. */
function cpuOf(pid: number): number {
  let ticks = 0;
  for (const each of descendantsOf(pid)) {
    try {
      const [user = 0, system = 0] =
        readFileSync(`/proc/${each}/stat`, 'utf8').split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? [];
      ticks += user + system;
    } catch {
      // it has ended
    }
  }
  return ticks * TICK_MS;
}
