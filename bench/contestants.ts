import { askOnce } from './ask.ts';
import { postgresOf } from './cost.ts';
import { dashboardPaths, ENDPOINT_ONE, inTurn, messages, type NextRequest } from './mixes.ts';
import type { Contestant } from './rounds.ts';
import { type SeededAccount, seedAccounts } from './seed.ts';
import { makeDataDir, type Server, startRival, startService } from './servers.ts';

// 5,000 keys are looked up when they are first seen, at 1,000 to 1,500 a second.
const FIRST_ASKED_SECONDS = 6;

/** The service that is measured, with its accounts. */
export interface Measured {
  dataDir: string;
  accounts: readonly SeededAccount[];
  service: Server;
  postmaster: number;
  /** Sends a request with the first key of the first account, or with `key`. */
  ask<Body>(path: string, key?: string): Promise<Body>;
}

/** Seeds accounts as {@link seedAccounts} does, and starts the service; `flags` are more flags for Node. */
export async function startMeasured(
  count: number,
  keys: number,
  flags: readonly string[] = [],
): Promise<Measured> {
  const dataDir = makeDataDir();
  const accounts = await seedAccounts(dataDir, count, keys);
  const service = await startService(dataDir, flags);
  return {
    dataDir,
    accounts,
    service,
    postmaster: postgresOf(dataDir),
    ask: (path, key = accounts[0]?.keys[0] ?? '') => askOnce(service.port, key, path),
  };
}

/** Starts a bare server with a body for each path. */
export function startBare(bodies: Record<string, unknown>): Promise<Server> {
  const byUrl = Object.entries(bodies).map(([path, body]) => [`/api/v1${path}`, JSON.stringify(body)]);
  return startRival(['bare-server.ts'], { input: Buffer.from(JSON.stringify(Object.fromEntries(byUrl))) });
}

/** The service with requests for endpoint 1 by the 50 keys of an account and by all keys, and the bare server. */
export async function startEndpointOne({ accounts, service, postmaster, ask }: Measured): Promise<{
  bare: Contestant;
  fifty: Contestant;
  thousands: Contestant;
}> {
  const bare = await startBare({ [ENDPOINT_ONE]: await ask(ENDPOINT_ONE) });
  const fifty = messages(accounts[0]?.keys ?? [], [ENDPOINT_ONE]);
  const all = accounts.flatMap(({ keys }) => keys);
  const mix = (name: string, load: Contestant['load']) => ({ name, server: service, postmaster, load });
  return {
    bare: {
      name: 'bare `node:http`, the same bytes',
      server: bare,
      postmaster: null,
      load: inTurn(fifty),
    },
    fifty: mix('**dbvitals**, endpoint 1, 50 keys', inTurn(fifty)),
    thousands: {
      ...mix('**dbvitals**, endpoint 1, 5,000 keys', inTurn(messages(all, [ENDPOINT_ONE]))),
      warmUp: FIRST_ASKED_SECONDS,
    },
  };
}

/** Starts the service that records nothing, on a store of its own. */
export async function startUnrecorded(): Promise<{ dataDir: string; unrecorded: Contestant }> {
  const dataDir = makeDataDir();
  const [own] = await seedAccounts(dataDir, 1);
  const withHook = ['--import', new URL('unrecorded.ts', import.meta.url).href];
  const unrecorded = {
    name: 'dbvitals that records nothing, endpoint 1, 50 keys',
    server: await startService(dataDir, withHook),
    postmaster: postgresOf(dataDir),
    load: inTurn(messages(own?.keys ?? [], [ENDPOINT_ONE])),
  };
  return { dataDir, unrecorded };
}

/** The service with requests for all eight endpoints in turn. */
export interface Dashboard extends Contestant {
  load: NextRequest;
  /** How many endpoints it asks. */
  paths: number;
}

/** {@link Dashboard} of the first account, with `more` paths among them. */
export async function startDashboard(
  { accounts, ask, service, postmaster }: Measured,
  more: readonly string[] = [],
): Promise<Dashboard> {
  const { data } = await ask<{ data: { id: number }[] }>(ENDPOINT_ONE);
  const paths = [...dashboardPaths(data[0]?.id ?? 0), ...more];
  return {
    name: `**dbvitals**, a dashboard: all eight endpoints${more.length > 0 ? `, and ${more.length} more` : ''}`,
    server: service,
    postmaster,
    load: inTurn(messages(accounts[0]?.keys ?? [], paths)),
    paths: paths.length,
  };
}
