import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { changeAccount } from '../../../src/activity/record-entry.ts';
import { secretKeys } from '../../../src/config/secret-key.ts';
import { parseStoreUrl } from '../../../src/config/store-url.ts';
import { addDestination } from '../../../src/notifications/destinations/add-destination.ts';
import { openPool } from '../../../src/store/connect.ts';
import { createCluster, startServer, stopServer } from '../../../src/store/server.ts';
import { type Environment, type Process, runJson, startProcess } from '../../contract/running-service.ts';
import { type Extent, type Fault, Seen } from '../fault.ts';
import { type NotifiedStage, onNotifiedStage } from './notified-stage.ts';

const PASSWORD = 'unspoken-flapping';
/** The group interval of a chat, less what the dispatcher and the network may take. */
const GROUP_MS = 28_000;

/** A watched server that goes away and comes back, seen by many monitors. */
export const notifyFlapping: Fault = {
  fault: 'ten monitors, a hundred connections to a server that goes away and comes back',
  figure:
    'always at most one open alert per rule and connection; at most one chat message of warnings per group interval (30 s)',
  provoke: (extent: Extent) =>
    onNotifiedStage(async (stage) => {
      const size =
        extent === 'short'
          ? { monitors: 3, connections: 20, cycles: 2, seconds: 15, every: '10s' }
          : { monitors: 10, connections: 100, cycles: 5, seconds: 90, every: '30s' };
      const watched = await startWatched();
      const monitors: Process[] = [];
      try {
        const environment = { DBVITALS_DATA_DIR: dirname(stage.storeFolder), WATCHED_PASSWORD: PASSWORD };
        await watch(environment, watched.folder, size);
        const accountId = await accountOf(stage);
        await addChat(stage, accountId);
        for (let n = 0; n < size.monitors; n += 1) monitors.push(startMonitor(stage));
        const watching = startSampling(stage, accountId);
        const began = performance.now();
        await wait(size.seconds * 1_000);
        for (let cycle = 0; cycle < size.cycles; cycle += 1) {
          await stopServer(watched.folder);
          await wait(size.seconds * 1_000);
          await watched.start();
          await wait(size.seconds * 1_000);
        }
        await wait(32_000); // the last group
        const { samples, doubles } = await watching.stop();
        const [told] = await stage.query<{ alerts: number; events: number }>(
          `select count(distinct alert_id)::int as alerts, count(*)::int as events from event
            where account_id = $1 and kind like 'alert.%'`,
          [accountId],
        );
        const times = stage.receiver.got.map(({ at }) => at);
        const gaps = times.slice(1).map((at, n) => at - (times[n] ?? 0));
        const seconds = (performance.now() - began) / 1_000;
        return new Seen()
          .atLeast(samples, 50, 'samples')
          .none(doubles, 'with two standing alerts of a rule and connection')
          .atLeast(told?.alerts ?? 0, size.connections, 'alerts')
          .atLeast(
            times.length,
            2,
            `of at most ${Math.ceil(seconds / 30)} messages for ${told?.events} events`,
          )
          .atMost(times.length, Math.ceil(seconds / 30), 'messages')
          .none(
            gaps.filter((gap) => gap < GROUP_MS).length,
            'messages within a group interval of the one before',
          );
      } finally {
        await Promise.all(monitors.map((monitor) => monitor.stop()));
        await watched.stop();
      }
    }),
};

async function startWatched() {
  const above = mkdtempSync(join(tmpdir(), 'dbvitals-flapping-'));
  chmodSync(above, 0o711);
  const folder = join(above, 'pg');
  await createCluster(folder, PASSWORD, {});
  const start = () =>
    startServer(folder, { listen_addresses: '', unix_socket_directories: folder, max_connections: '200' });
  await start();
  return {
    folder,
    start,
    async stop() {
      await stopServer(folder).catch(() => {}); // it may be away
      rmSync(above, { recursive: true, force: true });
    },
  };
}

const ACCOUNT = 'Flapping';

async function watch(
  environment: Environment,
  host: string,
  { connections, every }: { connections: number; every: string },
) {
  const address = `{ engine: postgres, host: ${host}, database: postgres, username: postgres }`;
  const one = (n: number) =>
    `      - { name: flapping ${n}, address: ${address}, password: { env: WATCHED_PASSWORD }, every: ${every} }`;
  const file = join(dirname(host), 'dbvitals.yaml');
  const lines = [
    'accounts:',
    `  - name: ${ACCOUNT}`,
    '    plan: business',
    '    connections:',
    ...Array.from({ length: connections }, (_, n) => one(n)),
    '    alert_rules:',
    '      - { name: Away, when: unreachable_seconds >= 10s }',
    '      - { name: Score, when: score < 50 }',
    '      - { name: Found, when: findings_critical >= 1 }',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  await runJson(['apply', '-f', file, '--secret-env', 'WATCHED_PASSWORD'], environment);
}

async function accountOf(stage: NotifiedStage): Promise<number> {
  const [row] = await stage.query<{ id: number }>(
    'select account_id::int as id from account where name = $1',
    [ACCOUNT],
  );
  return row?.id ?? 0;
}

async function addChat(stage: NotifiedStage, accountId: number): Promise<void> {
  const writer = openPool(parseStoreUrl(stage.storeUrl(stage.storeFolder, 5432)), 'writer', { max: 1 });
  const secret = secretKeys({ givenSecret: null, dataDir: dirname(stage.storeFolder) });
  const kinds = ['alert.triggered', 'alert.resolved'] as const;
  const chat = { name: 'Chat', channel: 'slack' as const, url: `${stage.receiver.url}/chat`, kinds };
  await changeAccount(writer, accountId, (change) =>
    addDestination(change, secret, { allowPrivate: true }, chat),
  );
  await writer.end();
}

function startMonitor(stage: NotifiedStage): Process {
  const dataFolder = dirname(stage.storeFolder);
  return startProcess(['monitor', '--concurrency', '10'], {
    DATABASE_URL: stage.storeUrl(stage.storeFolder, 5432),
    DBVITALS_SECRET_KEY: readFileSync(join(dataFolder, 'secret.key'), 'utf8').trim(),
    DBVITALS_ALLOW_PRIVATE_TARGETS: 'yes',
    LOG_LEVEL: 'warn',
  });
}

/** Looks for two standing alerts of a rule and connection, several times a second. */
function startSampling(stage: NotifiedStage, accountId: number) {
  let [samples, doubles, isOver] = [0, 0, false];
  const sampling = (async () => {
    const client = await stage.superuser();
    while (!isOver) {
      const { rowCount } = await client.query(
        `select from alert where account_id = $1 and state <> 'resolved'
          group by rule_id, connection_id having count(*) > 1`,
        [accountId],
      );
      samples += 1;
      doubles += rowCount ?? 0;
      await wait(200);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await sampling;
      return { samples, doubles };
    },
  };
}
