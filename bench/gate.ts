import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAccount } from '../src/admin/account.ts';
import { createKey } from '../src/admin/key.ts';
import { openPool } from '../src/database/connect.ts';
import { openStore } from '../src/database/open.ts';
import { type LoadResult, load } from './load.ts';

const KEYS = 50;
const CONNECTIONS = 64;
const SECONDS = 5;
const ROUNDS = 5;

const root = fileURLToPath(new URL('..', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'dbvitals-bench-'));
const environment = { ...process.env, DBVITALS_DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' };
const children: ChildProcess[] = [];

try {
  await main();
} finally {
  for (const child of children.reverse()) {
    if (child.exitCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  rmSync(dataDir, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const [service, servicePort] = await start(
    [...startCommand(), '--no-monitor'],
    /ready on http:\/\/[^:]+:(\d+)/,
  );
  const keys = await seed();
  const path = '/api/v1/health/connections?per_page=20';
  const requests = keys.map(
    (key) =>
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${servicePort}\r\nAuthorization: Bearer ${key}\r\nUser-Agent: bench\r\n\r\n`,
  );
  const answer = await fetch(`http://127.0.0.1:${servicePort}${path}`, {
    headers: { authorization: `Bearer ${keys[0]}` },
  });
  const body = Buffer.from(await answer.arrayBuffer());
  const [, barePort] = await start(['bench/bare-server.ts'], /(\d+)/, body);

  console.log(
    `${cpus().length} cores (${cpus()[0]?.model}), Node ${process.version}; load, service and PostgreSQL share them`,
  );
  console.log(`endpoint 1, 20 rows (${body.length} bytes), ${KEYS} keys, ${CONNECTIONS} connections`);
  const measure = (port: number) => load(port, requests, { connections: CONNECTIONS, seconds: SECONDS });
  await Promise.all([barePort, servicePort].map(measure)); // warm-up
  const ratios: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const bare = await measure(barePort);
    const ours = await measure(servicePort);
    ratios.push(ours.rate / bare.rate);
    const memory = Math.round(residentBytes(service) / 1e6);
    console.log(`${round}. bare node:http ${told(bare)}; dbvitals ${told(ours)}, ${memory} MB resident`);
  }
  ratios.sort((a, b) => a - b);
  console.log(
    `ratio dbvitals : bare node:http, median of ${ROUNDS}: ${ratios[Math.floor(ROUNDS / 2)]?.toFixed(3)}`,
  );
}

/** What `npm start` gives to node, its flags included. */
function startCommand(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return scripts.start.split(' ').slice(1);
}

/** An enterprise account with 20 connections that were checked, and its keys. */
async function seed(): Promise<string[]> {
  const store = await openStore({ databaseUrl: null, dataDir }, () => {});
  const writer = openPool(store.address, 'writer', { max: 1 });
  const account = await createAccount(writer, {
    name: 'bench',
    kind: 'company',
    plan: 'enterprise',
    requests_per_minute: 100_000,
  });
  const keys: string[] = [];
  for (let n = 1; n <= KEYS; n += 1) {
    keys.push((await createKey(writer, { accountId: account.id, name: `key ${n}`, lifetime: null })).key);
  }
  await writer.end();
  await store.close();
  await run([
    'src/main.ts',
    'sample-data',
    '--account',
    `${account.id}`,
    '--connections',
    '20',
    '--tickets',
    '100',
  ]);
  return keys;
}

async function run(command: string[]): Promise<void> {
  const child = spawn(process.execPath, command, {
    cwd: root,
    env: environment,
    stdio: ['ignore', 'ignore', 2],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${command.join(' ')} failed.`);
}

/** Starts a server; gives its process and the port that it says. */
async function start(command: string[], port: RegExp, input?: Buffer): Promise<[ChildProcess, number]> {
  const child = spawn(process.execPath, command, { cwd: root, env: environment, stdio: ['pipe', 'pipe', 2] });
  children.push(child);
  child.stdin?.end(input);
  let said = '';
  for await (const text of child.stdout ?? []) {
    said += text;
    const found = port.exec(said);
    if (found) return [child, Number(found[1])];
  }
  throw new Error(`${command.join(' ')} did not start.`);
}

function told({ rate, p50, p99, statuses }: LoadResult): string {
  const others = Object.keys(statuses).filter((status) => status !== '200');
  if (others.length > 0) throw new Error(`not all answers were 200: ${JSON.stringify(statuses)}`);
  return `${Math.round(rate)}/s (p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms)`;
}

function residentBytes(child: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024;
}
