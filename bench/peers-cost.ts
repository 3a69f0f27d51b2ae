import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PASSWORD, PostgresServer } from '../test/checks/postgres-server.ts';
import { needPackages } from '../test/clients/debian.ts';
import { pgactivity, postgres, type Service } from '../test/peers/tools.ts';
import { postmasterOf, serverSeconds } from './cost.ts';
import { fillTables } from './fill-tables.ts';
import { median } from './median.ts';
import { steadyRuns } from './steady-run.ts';
import { postgresTarget } from './watched-target.ts';

// What a run costs the watched server, beside all services of check_pgactivity and of check_postgres that `test:peers` runs, in turn on one
// server: `node bench/peers-cost.ts`, or `--tables 5000`. The server is Debian's PostgreSQL, which compiles plans (JIT) as most servers do and
// the embedded one does not. Needs root on Debian 12, and takes two minutes. Fails when a ratio is over its limit.

const PROGRAMS = '/usr/lib/postgresql/15';
const TOOLS = {
  check_pgactivity: '/usr/lib/nagios/plugins/check_pgactivity',
  check_postgres: '/usr/bin/check_postgres',
};
/** The most of a peer's processor time that a run may take, by the number of tables. */
const LIMITS: Record<number, Record<keyof typeof TOOLS, number>> = {
  200: { check_pgactivity: 0.27, check_postgres: 0.35 },
  5000: { check_pgactivity: 0.33, check_postgres: 0.12 },
};

const { values } = parseArgs({
  options: { tables: { type: 'string', default: '200' }, rounds: { type: 'string', default: '5' } },
});
const tables = Number(values.tables);

needPackages('check-pgactivity', 'check-postgres', 'postgresql-15');
if (!existsSync(PROGRAMS)) throw new Error(`There is no ${PROGRAMS}: this needs Debian 12.`);
const scratch = mkdtempSync(join(tmpdir(), 'peers-cost-'));
const server = await PostgresServer.start(PROGRAMS);
try {
  await compare();
} finally {
  await server.stop();
  rmSync(scratch, { recursive: true });
}

async function compare(): Promise<void> {
  await server.run('alter system set fsync = off');
  await server.run('alter system set autovacuum = off');
  await server.run('grant pg_read_all_data to watcher'); // so that the estimates of bloat are measured too
  await server.restart();
  await fillTables(server, tables, 20);
  const [{ jit } = {}] = await server.run('select pg_jit_available() as jit');
  const run = steadyRuns(postgresTarget(server));
  const contestants = {
    dbvitals: async () => void (await run()),
    check_pgactivity: async () => askAll('check_pgactivity', pgactivity),
    check_postgres: async () => askAll('check_postgres', postgres),
  };
  console.log(`PostgreSQL 15, JIT available: ${String(jit)}, ${tables} tables, ${values.rounds} rounds`);
  const costs = await measureRounds(contestants);
  for (const [name, seconds] of Object.entries(costs)) {
    const own = costs['dbvitals'] ?? [];
    const ratio = median(seconds.map((each, n) => (own[n] ?? 0) / each));
    const limit = LIMITS[tables]?.[name as keyof typeof TOOLS];
    if (limit !== undefined && ratio > limit) process.exitCode = 1;
    const beside = limit === undefined ? '' : `; a run takes ${ratio.toFixed(2)} of it (at most ${limit})`;
    console.log(
      `  ${name}: ${Math.round(median(seconds) * 1_000)} ms of the server's processor time${beside}`,
    );
  }
}

/** The server's processor time of each in each round, in seconds. */
async function measureRounds(
  contestants: Record<string, () => Promise<void>>,
): Promise<Record<string, number[]>> {
  const pid = postmasterOf(server.host);
  const costs = Object.fromEntries(Object.keys(contestants).map((name) => [name, [] as number[]]));
  for (const work of Object.values(contestants)) await work(); // fills caches
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [name, work] of Object.entries(contestants)) {
      const before = serverSeconds(pid);
      await work();
      costs[name]?.push(serverSeconds(pid) - before);
    }
  }
  return costs;
}

function askAll(tool: keyof typeof TOOLS, services: readonly Service[]): void {
  const { host, port, database } = server;
  const place =
    tool === 'check_pgactivity'
      ? [
          '-h',
          host,
          '-p',
          `${port}`,
          '-U',
          'postgres',
          '-d',
          database,
          '--status-file',
          join(scratch, 'status'),
        ]
      : ['-H', host, '-p', `${port}`, '-u', 'postgres', '-db', database];
  for (const { name, args } of services) {
    const chosen = tool === 'check_pgactivity' ? ['-s', name] : [`--action=${name}`];
    const { error } = spawnSync(TOOLS[tool], [...chosen, ...place, ...args], {
      env: { ...process.env, PGPASSWORD: PASSWORD },
      stdio: 'ignore',
      timeout: 120_000,
    });
    if (error) throw error;
  }
}
