import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import { type Account, makeAccount } from './account.ts';
import * as collectors from './collector-client.ts';
import { type CollectorClient, quietResult, type Signed } from './collector-client.ts';
import { commandJson } from './command.ts';
import { type Service, startService } from './running-service.ts';

/** A run that nobody has. */
export const NO_RUN = '00000000-0000-4000-8000-000000000000';
export const MINUTE = 60_000;

/** What is attacked: a service of its own, since refusals count against this machine's address, and three collectors. */
interface Attacked {
  service: Service;
  store: pg.Client;
  account: Account;
  /** Two collectors of the account. */
  own: CollectorClient;
  other: CollectorClient;
  /** Another account's. */
  stranger: CollectorClient;
}

/** Starts it for the tests of a file. `site` is filled before the first of them. */
export function startAttacked() {
  const site = {} as Attacked;
  const enrolledClient = (account: number, name: string) =>
    collectors.enrolledClient(account, name, site.service.origin);

  beforeAll(async () => {
    site.store = new pg.Client({ connectionString: inject('sharedStore')['DATABASE_URL'] });
    await site.store.connect();
    site.service = await startService(inject('sharedStore'), ['--no-monitor']);
    site.account = await makeAccount();
    site.own = await enrolledClient(site.account.id, 'own');
    site.other = await enrolledClient(site.account.id, 'other');
    site.stranger = await enrolledClient((await makeAccount()).id, 'own');
  });
  afterAll(async () => {
    await site.service?.stop();
    await site.store?.end();
  });

  async function addCollected(collector: string, name: string, account = site.account.id): Promise<number> {
    const { id } = await commandJson<{ id: number }>([
      ...['connection', 'add', '--account', `${account}`, '--collector', collector, '--name', name],
      ...['--engine', 'postgres', '--every', '7d'],
    ]);
    return id;
  }

  return {
    site,
    enrolledClient,
    addCollected,
    post: (action: string, signed: Signed) => collectors.post(action, signed, site.service.origin),
    enrol: (content: object) => collectors.enrol(content, site.service.origin),
    removeConnection: (id: number) => commandJson(['connection', 'remove', `${id}`]),
    /** A new connection of a collector, and its run, which is handed out at once. */
    async startRun(client: CollectorClient, name: string) {
      const connectionId = await addCollected(client === site.other ? 'other' : 'own', name, client.account);
      const { body } = await client.work();
      const [job] = body.jobs ?? [];
      if (job?.connection !== name) throw new Error(`The run of ${name} was not handed out.`);
      return { connectionId, run: job.run };
    },
    async countChecks(connectionId: number): Promise<number> {
      const { rows } = await site.store.query(
        'select count(*)::int as checks from health_check where connection_id = $1',
        [connectionId],
      );
      return rows[0].checks;
    },
    /** How much of what pulses see is stored of a connection: episodes, deadlocks, minutes. */
    async countPulses(connectionId: number): Promise<number[]> {
      const { rows } = await site.store.query<{ counts: number[] }>(
        `select array[(select count(*) from blocking_episode where connection_id = $1),
                      (select count(*) from deadlock where connection_id = $1),
                      (select count(*) from session_load where connection_id = $1)]::int[] as counts`,
        [connectionId],
      );
      return rows[0]?.counts ?? [];
    },
  };
}

/** A blocking episode that pulses saw of a connection, as honest collectors send it. */
export function makeEpisode(connection: string, given: object = {}) {
  const now = Date.now();
  const who = { database: 'shop', role: 'bob', application: '' };
  const session = { pid: 7, ...who, state: 'idle in transaction' };
  const wait = { pid: 8, blockers: [7], seconds: 9, lock: 'tuple', relation: 'orders', session: null };
  const episode = {
    began_at: now - 9_000,
    root: '7/1',
    seen_at: now,
    ended_at: null,
    ...who,
    most_sessions: 1,
    longest_seconds: 9,
    lost_seconds: 9,
    trees: [{ at: new Date(now).toISOString(), root: session, waits: [wait], sessions: 1 }],
    ...given,
  };
  return { connection, episode };
}

/** A health check that waited for the service. */
export const makePast = (connection: string, at: number) => ({
  results: [{ connection, at, measured: quietResult(NO_RUN).measured }],
});

export const thisMinute = () => Math.floor(Date.now() / MINUTE) * MINUTE;

export function makeLoad(connection: string, at: number, application = 'web') {
  const source = {
    state: 'active',
    wait: '',
    event: '',
    query: '1',
    role: 'bob',
    application,
    database: 'a',
  };
  const load = {
    at,
    active: 1,
    idle_in_transaction: 0,
    blocked_sessions: 0,
    blocked_seconds: 0,
    end_blocked_sessions: 0,
    end_blocked_seconds: 0,
    commits: null,
    rollbacks: null,
    replica_lag: null,
    sources: [{ source, sessions: 1 }],
  };
  return { connection, load };
}

export function makeDeadlock(connection: string, at: number) {
  const transaction = { digest: 'a'.repeat(64), command: 'UPDATE', tables: ['shop.orders'], is_victim: true };
  return { connection, deadlock: { at, transactions: [transaction] } };
}
