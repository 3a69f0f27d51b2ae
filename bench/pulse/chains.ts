import { setTimeout as wait } from 'node:timers/promises';
import { PASSWORD, PostgresServer } from '../../test/checks/postgres-server.ts';
import { MysqlServer } from '../../test/mysql/mysql-server.ts';
import { ENGINE } from '../../test/mysql/tested-server.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import type { Figure } from '../one-run.ts';
import { startProgram, stopProgram } from '../start-program.ts';

/** The chains to provoke, of depth 1 to 3. */
interface Provoked {
  chains: number;
  /** How long the first one lasts, and the last one. */
  shortestS: number;
  longestS: number;
  isMysql: boolean;
}

export const ALL_CHAINS: Provoked = { chains: 20, shortestS: 10, longestS: 60, isMysql: false };

/** As many as a connection has episodes at a time. */
const AT_ONCE = 10;
/** A pulse a second while something is wrong, and a moment until it is stored. */
const WITHIN_S = 2;

/** A session of the watched server, of whichever engine. */
interface Holder {
  pid: number;
  /** Begins a transaction and locks a row. Settles when it has the lock. */
  lock(row: number): Promise<unknown>;
  end(): Promise<void>;
}

interface WatchedServer {
  settings: Record<string, unknown>;
  open(): Promise<Holder>;
  stop(): Promise<void>;
}

async function startPostgres(rows: number): Promise<WatchedServer> {
  const server = await PostgresServer.start();
  await server.run('alter system set max_connections = 200');
  await server.restart();
  await server.run(`create table held (id int primary key, n int);
    INSERT INTO held SELECT n, 0 FROM generate_series(1, ${rows}) n`);
  return {
    settings: { host: server.host, port: server.port, database: 'shop', username: 'watcher' },
    stop: () => server.stop(),
    async open() {
      const client = await server.open();
      await client.query('begin');
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      return {
        pid: rows[0]?.pid ?? 0,
        lock: (row) => client.query('update held set n = n + 1 where id = $1', [row]),
        end: () => client.end(),
      };
    },
  };
}

async function startMysql(rows: number): Promise<WatchedServer> {
  const server = await MysqlServer.start({ 'max-connections': '200', 'innodb-lock-wait-timeout': '600' });
  await server.run([
    'create table held (id int primary key, n int)',
    ...Array.from({ length: rows }, (_, n) => `insert into held values (${n + 1}, 0)`),
  ]);
  return {
    settings: { host: server.socket, port: 3306, database: '', username: 'watcher', engine: ENGINE },
    stop: () => server.stop(),
    async open() {
      const session = await server.open('app');
      await session.query('start transaction');
      return {
        pid: session.threadId ?? 0,
        lock: (row) => session.query('update held set n = n + 1 where id = ?', [row]),
        end: () => session.end(),
      };
    },
  };
}

/** A chain that was provoked; times are Unix times in milliseconds. */
interface Chain {
  root: number;
  began: number;
  ended: number;
}

/** Holds a row for so many seconds, for which others wait, each for the one before; a wait of depth 3 is three sessions long. */
async function provoke(server: WatchedServer, place: number, seconds: number): Promise<Chain> {
  const depth = 1 + (place % 3);
  const sessions = await Promise.all(Array.from({ length: depth + 1 }, () => server.open()));
  // Each has a row of its own, and then waits for that of the one before.
  for (const [level, session] of sessions.entries()) await session.lock(place * 10 + level + 1);
  const began = Date.now();
  const waits = sessions
    .slice(1)
    .map((session, level) => session.lock(place * 10 + level + 1).catch(() => null));
  await wait(seconds * 1_000);
  const [root] = sessions;
  await root?.end();
  const ended = Date.now();
  for (const [level, session] of sessions.slice(1).entries()) {
    await waits[level];
    await session.end();
  }
  return { root: root?.pid ?? 0, began, ended };
}

const selectEpisodes = `
  select split_part(root, '/', 1)::int as root, began_at, ended_at from blocking_episode where account_id = $1`;

interface Stored {
  root: number;
  began_at: Date;
  ended_at: Date | null;
}

/** Measures whether the pulse finds chains of 10 to 60 s with the right root, beginning and end. */
export async function measureChains(
  figure: Figure,
  { chains: count, shortestS, longestS, isMysql }: Provoked,
): Promise<void> {
  const start = isMysql ? startMysql : startPostgres;
  const [store, server] = await Promise.all([startTestStore(), start(count * 10)]);
  const key = await store.watched();
  await store.set(key, server.settings, { password: PASSWORD });
  await schedule(store);
  const monitor = startProgram(store, 'monitor');
  try {
    console.log(
      `${count} chains on ${isMysql ? ENGINE : 'PostgreSQL'}, depth 1 to 3, ${shortestS} to ${longestS} s`,
    );
    await wait(15_000); // the first pulses
    const chains: Chain[] = [];
    const lasts = (place: number) => shortestS + ((longestS - shortestS) * place) / (count - 1);
    for (let first = 0; first < count; first += AT_ONCE) {
      const places = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, n) => first + n);
      const batch = places.map((place) => provoke(server, place, lasts(place)));
      chains.push(...(await Promise.all(batch)));
    }
    await wait(5_000);
    const { rows } = await store.writer.query<Stored>(selectEpisodes, [key.accountId]);
    report(chains, rows, figure);
  } finally {
    await stopProgram(monitor);
    await Promise.all([store.stop(), server.stop()]);
  }
}

/** Every health check in a day: only pulses look. */
function schedule(store: TestStore): Promise<unknown> {
  return store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at)
     select account_id, connection_id, '1 d', now() + interval '1 d' from connection`,
  );
}

function report(chains: readonly Chain[], stored: readonly Stored[], figure: Figure): void {
  const found = chains.flatMap((chain) => {
    const episode = stored.find(({ root }) => root === chain.root);
    return episode ? [{ chain, episode }] : [];
  });
  const off = (at: Date | null, expected: number) =>
    at === null ? Number.POSITIVE_INFINITY : Math.abs(at.getTime() - expected) / 1_000;
  const began = found.map(({ chain, episode }) => off(episode.began_at, chain.began));
  const ended = found.map(({ chain, episode }) => off(episode.ended_at, chain.ended));
  figure('chains found with their root', found.length, `of ${chains.length}`);
  figure('chains not found', chains.length - found.length, '', 0);
  figure('episodes of another root', stored.length - found.length, '', 0);
  figure('beginning, most off by', Math.max(...began), 's', WITHIN_S);
  figure('end, most off by', Math.max(...ended), 's', WITHIN_S);
}
