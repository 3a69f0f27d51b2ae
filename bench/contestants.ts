import { askOnce } from './ask.ts';
import { postgresOf } from './cost.ts';
import { activityPages, dashboardPaths, ENDPOINT_ONE, messages } from './mixes.ts';
import type { Contestant } from './rounds.ts';
import { seedAccounts } from './seed.ts';
import { makeDataDir, startRival, startService } from './servers.ts';

const ACCOUNTS = 100;

/** The service and its rivals, all running, each with a load. `stop` ends all of them except the bare server. */
export interface Contestants {
  dataDir: string;
  /** The data folder of the service that records nothing. */
  unrecordedDir: string;
  bare: Contestant;
  /** The service with requests for endpoint 1 by 50 and by 5,000 keys. */
  fifty: Contestant;
  thousands: Contestant;
  unrecorded: Contestant;
  plain: Contestant;
  /** The service with requests for all eight endpoints, and for pages of the log. */
  dashboard: Contestant;
  pages: Contestant;
  stop(): Promise<void>;
}

/** Seeds accounts of 50 keys and 20 connections each, and starts the servers. */
export async function startContestants(): Promise<Contestants> {
  const [dataDir, unrecordedDir] = [makeDataDir(), makeDataDir()];
  const accounts = await seedAccounts(dataDir, ACCOUNTS);
  const [{ id, keys } = { id: 0, keys: [] }] = accounts;
  const [own = { id, keys }] = await seedAccounts(unrecordedDir, 1);

  const service = await startService(dataDir);
  const withHook = ['--import', new URL('unrecorded.ts', import.meta.url).href];
  const unrecorded = await startService(unrecordedDir, withHook);
  const plain = await startRival(['plain-server.ts', `${id}`], { dataDir });
  const ask = <Body>(path: string) => askOnce<Body>(service.port, keys[0] ?? '', path);
  const body = await ask<{ data: { id: number }[] }>(ENDPOINT_ONE);
  const bare = await startRival(['bare-server.ts'], { input: Buffer.from(JSON.stringify(body)) });

  const postmaster = postgresOf(dataDir);
  const mix = (name: string, requests: string[]) => ({
    ...{ name: `**dbvitals**, ${name}`, server: service, postmaster, requests },
  });
  const endpointOne = messages(keys, [ENDPOINT_ONE]);
  const allKeys = accounts.flatMap((account) => account.keys);
  const activity = (await activityPages(ask, 7)).map(({ path }) => path);
  return {
    ...{ dataDir, unrecordedDir },
    bare: { name: 'bare `node:http`, the same bytes', server: bare, postmaster: null, requests: endpointOne },
    fifty: mix('endpoint 1, 50 keys', endpointOne),
    thousands: mix('endpoint 1, 5,000 keys', messages(allKeys, [ENDPOINT_ONE])),
    unrecorded: {
      name: 'dbvitals that records nothing, endpoint 1, 50 keys',
      server: unrecorded,
      postmaster: postgresOf(unrecordedDir),
      requests: messages(own.keys, [ENDPOINT_ONE]),
    },
    plain: { name: 'plain Fastify + pg, endpoint 1', server: plain, postmaster, requests: endpointOne },
    dashboard: mix('a dashboard: all eight endpoints', messages(keys, dashboardPaths(body.data[0]?.id ?? 0))),
    pages: mix('pages of 100 of 10,000 entries', messages(keys, activity)),
    async stop() {
      for (const server of [plain, unrecorded, service]) await server.stop();
    },
  };
}
