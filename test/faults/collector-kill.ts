import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startProcess, temporaryFolder } from '../contract/running-service.ts';
import { type Extent, type Fault, Seen } from './fault.ts';
import { startProxy } from './proxy.ts';
import { onStage, type Stage } from './stage.ts';

const CONNECTIONS = 3;

/** Repeated kill -9 of a collector, every other time while it cannot reach the service and keeps its results. */
export const collectorKill: Fault = {
  fault: 'kill -9 of a collector amid health checks, every other time while the service is away',
  figure:
    '20 kills: no run stored twice, none lost that was acknowledged; it goes on with the results that wait',
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const kills = extent === 'short' ? 4 : 20;
      const folder = temporaryFolder();
      const port = Number(new URL(stage.service.origin).port);
      let proxy = await startProxy(port);
      try {
        const url = `http://127.0.0.1:${proxy.port}`;
        const start = await enrol(stage, folder.path, { url, count: CONNECTIONS, every: '10s' });
        let output = '';
        for (let kill = 1; kill <= kills; kill += 1) {
          const collector = start();
          const isAway = kill % 2 === 0;
          await collector.says(/the collector runs/);
          await wait(6_000 + 977 * (kill % 5)); // at a varying point of a run
          if (isAway) {
            await proxy.close();
            await wait(14_000);
          }
          await collector.stop('SIGKILL');
          output += collector.output();
          if (isAway) proxy = await startProxy(port, proxy.port);
        }
        const last = start();
        await wait(30_000);
        await last.stop();
        output += last.output();
        const stored = await stage.query<{ id: number; at: string }>(
          `select health_check_id::int as id, connection_id || created_at::text as at
             from health_check where account_id = $1`,
          [stage.id],
        );
        const times = new Set(stored.map(({ at }) => at));
        const ids = new Set(stored.map(({ id }) => id));
        const acknowledged = [...output.matchAll(/"check":(\d+),"msg":"health check delivered"/g)].map(
          ([, id]) => Number(id),
        );
        const late = [...output.matchAll(/"results":(\d+),"msg":"health checks delivered that/g)];
        const kept = late.reduce((sum, [, results]) => sum + Number(results), 0);
        // Besides, an answer that a kill cut off was stored and not acknowledged.
        const others = stored.length - new Set(acknowledged).size;
        const [judged] = await stage.query<{ twice: number }>(
          `select coalesce(sum(cardinality(judged_at_ms) - (select count(distinct at) from unnest(judged_at_ms) at)), 0)::int as twice
             from collected_connection where account_id = $1`,
          [stage.id],
        );
        return new Seen()
          .atLeast(kills, kills, 'kills')
          .atLeast(acknowledged.length, 1, 'runs acknowledged')
          .atLeast(late.length, 1, 'deliveries of results that waited')
          .none(acknowledged.filter((id) => !ids.has(id)).length, 'acknowledged runs lost')
          .none(Math.max(0, kept - others), 'acknowledged results of the past lost')
          .none(acknowledged.length - new Set(acknowledged).size, 'runs acknowledged twice')
          .none(stored.length - times.size, 'runs stored twice')
          .none(judged?.twice ?? 1, 'runs judged twice');
      } finally {
        await proxy.close();
        folder.remove();
      }
    }),
};

/** Makes a collector with connections to the stage's own store. Returns what starts it. */
export async function enrol(
  stage: Stage,
  folder: string,
  { url, count, every }: { url: string; count: number; every: string },
) {
  const account = ['--account', `${stage.id}`];
  const { token } = await stage.command<{ token: string }>(
    'collector',
    'enrol',
    ...account,
    '--name',
    'kill',
  );
  const names = Array.from({ length: count }, (_, n) => `c${n}`);
  for (const name of names) {
    const way = ['--collector', 'kill', '--engine', 'postgres', '--every', every];
    await stage.command('connection', 'add', ...account, '--name', name, ...way);
  }
  const database = stage.storeUrl(stage.storeFolder, 5432);
  const connections = Object.fromEntries(names.map((name) => [name, { url: database }]));
  mkdirSync(join(folder, 'key'), { mode: 0o700 });
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const file = write('collector.yaml', JSON.stringify({ connections }));
  const args = ['collect', '--url', url, '--name', 'kill', '--file', file, '--no-pulse'];
  return () =>
    startProcess([...args, '--folder', join(folder, 'key'), '--token-file', write('token', token)], {});
}
