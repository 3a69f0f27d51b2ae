import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD, PostgresServer, toTarget } from '../../../test/checks/postgres-server.ts';
import { ownCheck } from '../../checks/own/own-check-fixture.ts';
import { Collector } from './collect.ts';
import { newKey } from './collector-key.ts';
import type { CollectorTargets } from './collector-target.ts';

// A service that was taken over asks a collector for what its file does not allow. The site is a real PostgreSQL.

interface Sent {
  action: string;
  /** Unpacked. */
  body: string;
}

let database: PostgresServer;
let service: Server;
/** Where the service would like a login to be sent. */
const elsewhere = createTcpServer((socket) => {
  contacts += 1;
  socket.destroy();
});
let contacts = 0;
const jobs: object[] = [];
const sent: Sent[] = [];

beforeAll(async () => {
  database = await PostgresServer.start();
  await database.run('create table hidden_orders (id integer)');
  service = createServer(async (request, response) => {
    const action = request.url?.split('/').at(-1) ?? '';
    sent.push({ action, body: JSON.stringify(request.headers) + (await unpack(request)) });
    const given = action === 'work' ? jobs.splice(0) : [];
    const wait = action === 'work' && given.length === 0 ? 100 : 0;
    const answer = { jobs: given, connections: ['shop', 'open'], takes: ['at'], health_check_id: 1 };
    setTimeout(() => response.end(JSON.stringify(answer)), wait);
  }).listen(0, '127.0.0.1');
  elsewhere.listen(0, '127.0.0.1');
  await Promise.all([once(service, 'listening'), once(elsewhere, 'listening')]);
});

afterAll(async () => {
  service.closeAllConnections();
  service.close();
  elsewhere.close();
  await database.stop();
});

async function unpack(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return gunzipSync(Buffer.concat(chunks)).toString();
}

const readPort = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

/** The file has the same server twice: `shop` allows nothing, `open` allows texts and own checks. */
function makeTargets(): CollectorTargets {
  const target = toTarget(database);
  const rest = { target, tokenCommand: null };
  return new Map([
    ['shop', { ...rest, queryTexts: false, ownChecks: false }],
    ['open', { ...rest, queryTexts: true, ownChecks: true }],
  ]);
}

let runs = 0;

/** Gives a job, and returns what the collector reports of it. */
async function order(connection: string, instructions: object = {}, more: object = {}) {
  runs += 1;
  const run = `0199b2f4-6b5e-7c3a-9a41-${String(runs).padStart(12, '0')}`;
  const plain = { thresholds: {}, expectedStandbys: 0, own: [], before: [], facts: null };
  jobs.push({ run, connection, engine: 'postgres', instructions: { ...plain, ...instructions }, ...more });
  const find = () => sent.find(({ action, body }) => action === 'result' && body.includes(run));
  await expect.poll(find).toBeDefined();
  const { body = '' } = find() ?? {};
  return JSON.parse(body.slice(body.indexOf('{"run"'))).measured as {
    outcomes: { check: { id: string }; findings: { status: string; metric_line: string }[] }[];
    queries: { state: string; texts: unknown[] } | null;
  };
}

async function withCollector(work: () => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
  const stopped = new AbortController();
  const quiet = () => {};
  const parts = {
    identity: {
      url: `http://127.0.0.1:${readPort(service)}`,
      name: 'a',
      account: 1,
      collector: 1,
      key: newKey().key,
    },
    readTargets: makeTargets,
    version: '0.1.0',
    concurrency: 2,
    hasPulses: false,
    buffer: { folder, largest: 1024 * 1024 },
    log: { info: quiet, warn: quiet, error: quiet },
  };
  const run = new Collector(parts, stopped.signal).run();
  try {
    await work();
  } finally {
    stopped.abort();
    await run;
    rmSync(folder, { recursive: true });
  }
}

const OWN = ownCheck({
  id: 'PEEK',
  sql: 'select count(*) as value from hidden_orders',
  warning: 0,
  critical: null,
});

test('a hostile service gets no login, names no host, and runs and reads nothing that the file does not allow', async () => {
  const asked = { queries: { state: null, usual: null, recent: null, texts: [] } };
  const isPeek = ({ check }: { check: { id: string } }) => check.id === 'OWN_PEEK';
  const ranPeek = async () =>
    (
      await database.run(
        `select from "Extra stats".pg_stat_statements where query ~ 'hidden_orders' and query !~ 'create|pg_stat'`,
      )
    ).length > 0;
  await withCollector(async () => {
    for (const connection of ['shop', 'open']) {
      const first = await order(connection, { ...asked, own: [OWN] });
      const own = first.outcomes.find(isPeek)?.findings[0];
      expect([connection, own?.status, await ranPeek()]).toEqual([
        connection,
        connection === 'open' ? 'warning' : 'skipped',
        connection === 'open',
      ]);
      await database.run('select pg_sleep(0.05) as secret_column');
      const state = first.queries?.state ?? null;
      const second = await order(connection, { queries: { ...asked.queries, state } });
      expect([connection, JSON.stringify(second.queries?.texts).includes('secret_column')]).toEqual([
        connection,
        connection === 'open',
      ]);
    }
    // Another host, database or login than that of the file is no part of a job.
    const host = { host: '127.0.0.1', port: readPort(elsewhere), username: 'postgres', tls: 'disable' };
    const names = { target: host, ...host, allowPrivateTargets: true };
    const named = await order('shop', names, names);
    expect(named.outcomes.length).toBeGreaterThan(10);
    for (const connection of ['unknown', '__proto__', '../shop', 'shop\0']) {
      const { outcomes } = await order(connection, names, names);
      expect([connection, outcomes.map(({ check }) => check.id)]).toEqual([connection, ['CONN_UNREACHABLE']]);
    }
    const { outcomes } = await order('shop', {}, { engine: 'mysql' });
    expect(outcomes.map(({ check }) => check.id)).toEqual(['CONN_UNREACHABLE']);
  });
  expect(contacts).toBe(0);
  for (const { action, body } of sent) expect([action, body.includes(PASSWORD)]).toEqual([action, false]);
});
