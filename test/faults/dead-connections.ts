import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseStoreUrl } from '../../src/config/store-url.ts';
import { storeSecrets } from '../../src/connections/credentials.ts';
import { openPool } from '../../src/store/connect.ts';
import { startProcess } from '../contract/running-service.ts';
import { type Fault, Seen } from './fault.ts';
import { onStage, type Stage } from './stage.ts';

const DEAD = 1_000;
const INTERVAL_SECONDS = 10;

// Four silent servers each, the maximum for a connection.
const insertDead = `
  with added as (
    insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
    select $1, 'dead ' || n, 'postgres', 'direct', $2, $3, 'shop', 'watcher', 'disable', now()
      from generate_series(1, $4::integer) n
    returning connection_id
  )
  insert into connection_schedule (account_id, connection_id, every, due_at)
  select $1, connection_id, interval '10 s', now() - interval '1 h' from added
  returning connection_id as id`;

// The store's own connection, added by the first start: healthy, and in another account.
const selectOther = `select account_id, connection_id from connection_schedule where account_id <> $1`;
const schedule = `
  update connection_schedule set every = interval '${INTERVAL_SECONDS} s', due_at = now() where connection_id = $1`;
const selectChecks = `
  select extract(epoch from created_at - lag(created_at) over (order by created_at))::float8 as gap
    from health_check where connection_id = $1 and created_at > $2 order by created_at`;
const selectSlots = `
  select count(*) filter (where account_id = $1)::int as greedy, count(*)::int as taken
    from connection_schedule where claimed_until > now()`;

/** A tenant adds 1,000 databases that accept connections and never answer. Another tenant's check is due every 10 s. */
export const deadConnections: Fault = {
  fault: "one tenant's 1,000 dead connections",
  figure:
    "another tenant's 10-second check is at most 15 s late; two monitors, the dead ones' tenant has 8 of 10 places of each at most",
  provoke: (extent) =>
    onStage(async (stage) => {
      const sockets = new Set<Socket>();
      const silent = createServer((socket) => void sockets.add(socket.on('error', () => {}).resume()));
      await once(silent.listen(0, '127.0.0.1'), 'listening');
      const { port } = silent.address() as AddressInfo;
      const hosts = Array(4).fill(`127.0.0.1:${port}`).join(',');
      const dead = await stage.query<{ id: number }>(insertDead, [stage.id, hosts, port, DEAD]);
      await storePasswords(stage, dead);
      const [other] = await stage.query<{ connection_id: number }>(selectOther, [stage.id]);
      if (!other) throw new Error('the store does not watch itself');
      const settings = { DBVITALS_DATA_DIR: dirname(stage.storeFolder), LOG_LEVEL: 'warn' };
      const monitors = extent === 'short' ? [1] : [1, 2];
      const running = monitors.map(() => startProcess(['monitor'], settings));
      try {
        const [began] = await stage.query<{ at: Date }>('select now() as at');
        // The monitors start and fill up with dead connections before the other check is due.
        await wait(8_000);
        await stage.query(schedule, [other.connection_id]);
        const until = performance.now() + (extent === 'short' ? 45_000 : 120_000);
        let most = 0;
        while (performance.now() < until) {
          const [slots] = await stage.query<{ greedy: number; taken: number }>(selectSlots, [stage.id]);
          most = Math.max(most, slots?.greedy ?? 0);
          await wait(500);
        }
        const checks = await stage.query<{ gap: number | null }>(selectChecks, [
          other.connection_id,
          began?.at,
        ]);
        const gaps = checks.flatMap(({ gap }) => gap ?? []);
        const late = Math.max(...gaps) - INTERVAL_SECONDS;
        return new Seen()
          .atLeast(gaps.length, extent === 'short' ? 2 : 8, 'checks of the other')
          .atMost(late, 15, 'at most late by', ' s')
          .atLeast(most, 5 * monitors.length, 'places of the dead, at most')
          .atMost(most, 8 * monitors.length, 'and', '');
      } finally {
        await Promise.all(running.map((monitor) => monitor.stop()));
        for (const socket of sockets) socket.destroy();
        silent.close();
      }
    }),
};

/** Stores connections with their secrets; without, they would count as tampered with and would not be contacted. */
async function storePasswords(stage: Stage, connections: { id: number }[]): Promise<void> {
  const key = readFileSync(join(dirname(stage.storeFolder), 'secret.key'), 'utf8').trim();
  const writer = openPool(parseStoreUrl(stage.storeUrl(stage.storeFolder, 5432)), 'writer', { max: 1 });
  try {
    for (const { id: connectionId } of connections) {
      const secrets = { password: 'unspoken-watcher', sshKey: null };
      await storeSecrets(writer, [Buffer.from(key, 'hex')], { accountId: stage.id, connectionId }, secrets);
    }
  } finally {
    await writer.end();
  }
}
