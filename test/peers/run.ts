import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runHealthCheck } from '../../src/monitor/run.ts';
import { oldPrograms, PASSWORD, PostgresServer } from '../checks/postgres-server.ts';
import { needPackages } from '../clients/debian.ts';
import { startTestStore } from '../support/store.ts';
import { compare, type OurFinding, type PeerAnswer } from './compare.ts';
import { seed } from './seed.ts';
import { pgactivity, pgactivityLeftOut, postgres, postgresLeftOut, type Service } from './tools.ts';

// Gives a server all faults that can exist together, runs check_pgactivity, check_postgres and dbvitals on it, and
// compares their findings by kind and object. The server is PostgreSQL 14: Debian's releases of the tools predate 16.

const PGACTIVITY = '/usr/lib/nagios/plugins/check_pgactivity';
const POSTGRES = '/usr/bin/check_postgres';

const scratch = mkdtempSync(join(tmpdir(), 'peers-'));

needPackages('check-pgactivity', 'check-postgres');
completeOrThrow(
  'check_pgactivity',
  servicesOf(PGACTIVITY, ['--list'], /^\t(\w+)\s+\t/gm),
  pgactivity,
  pgactivityLeftOut,
);
completeOrThrow(
  'check_postgres',
  servicesOf(POSTGRES, ['--help'], /^ (\w+) +- /gm),
  postgres,
  postgresLeftOut,
);
const store = await startTestStore();
const server = await PostgresServer.start(oldPrograms());
try {
  await comparePeers();
} finally {
  process.on('unhandledRejection', () => {}); // sessions of the faults fail when the server stops
  await Promise.all([server.stop(), store.stop()]);
  rmSync(scratch, { recursive: true });
}
process.exit(); // idle child processes of the monitor would keep it alive

function servicesOf(program: string, args: string[], each: RegExp): string[] {
  const { stdout } = spawnSync(program, args, { encoding: 'utf8' });
  return [...stdout.matchAll(each)].map(([, name = '']) => name);
}

function completeOrThrow(
  tool: string,
  offered: string[],
  run: Service[],
  leftOut: Record<string, string>,
): void {
  const known = (name: string) =>
    run.some((service) => service.name === name) ||
    Object.keys(leftOut).some((start) => name === start || name.startsWith(`${start}_`));
  const unknown = offered.filter((name) => !known(name));
  if (offered.length === 0 || unknown.length > 0) {
    throw new Error(
      `${tool} offers what tools.ts does not know: ${unknown.join(', ') || 'nothing was listed'}.`,
    );
  }
}

async function comparePeers(): Promise<void> {
  const { host, port, database } = server;
  const key = await store.watched({ host, port, database }, PASSWORD);

  const { made, thresholds } = await seed(server, async (own) => {
    askAll(); // some services compare with their previous call, as some of our checks do with the previous run
    await runHealthCheck({ ...store.deps, thresholds: own }, key);
  });
  const started = performance.now();
  const theirs = askAll();
  console.log(
    `${made.length} faults made; the peers took ${Math.round((performance.now() - started) / 1000)} s`,
  );
  const run = await runHealthCheck({ ...store.deps, thresholds }, key);
  if (!run) throw new Error('The connection is gone.');
  const { rows } = await store.writer.query<{ findings: OurFinding[] }>(
    'select findings from health_check where health_check_id = $1',
    [run.id],
  );
  const { lines, missed } = compare(theirs, rows[0]?.findings ?? [], made);
  console.log(lines.join('\n'));
  if (missed > 0) process.exitCode = 1;
}

function askAll(): PeerAnswer[] {
  return [
    ...pgactivity.map((service) =>
      ask('check_pgactivity', service, PGACTIVITY, [
        '-s',
        service.name,
        '-h',
        server.host,
        '-p',
        `${server.port}`,
        '-U',
        'postgres',
        '-d',
        server.database,
        '--format=human',
        '--status-file',
        join(scratch, 'status'),
      ]),
    ),
    ...postgres.map((service) =>
      ask('check_postgres', service, POSTGRES, [
        `--action=${service.name}`,
        '-H',
        server.host,
        '-p',
        `${server.port}`,
        '-u',
        'postgres',
        '-db',
        server.database,
      ]),
    ),
  ];
}

function ask(tool: string, service: Service, program: string, args: string[]): PeerAnswer {
  const { status, stdout, stderr } = spawnSync(program, [...args, ...service.args], {
    encoding: 'utf8',
    env: { ...process.env, PGPASSWORD: PASSWORD },
    timeout: 30_000,
  });
  return { tool, service, status: status ?? 3, said: stdout || stderr };
}
