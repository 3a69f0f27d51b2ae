import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { changeAccount } from '../../../src/activity/record-entry.ts';
import { secretKeys } from '../../../src/config/secret-key.ts';
import { parseStoreUrl } from '../../../src/config/store-url.ts';
import { addDestination } from '../../../src/notifications/destinations/add-destination.ts';
import type { NewEvent } from '../../../src/notifications/event.ts';
import { queueEvents } from '../../../src/notifications/outbox/queue-events.ts';
import { openPool } from '../../../src/store/connect.ts';
import type { EventKind } from '../../../src/vocabulary/event-kinds.ts';
import { PAGE_LINKS } from '../../../src/vocabulary/page-paths.ts';
import { type Stage, setStage, UNLIMITED } from '../stage.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** Services may send to receivers on this machine. */
const NOTIFYING = { DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes' };

/** A destination of the stage. Its receiver's path is its id. */
export interface StagedDestination {
  accountId: number;
  id: number;
}

/** A stage with destinations, whose events are injected as a stored run does it. */
export interface NotifiedStage extends Stage {
  receiver: Receiver;
  /** Adds accounts with webhooks each, at the receiver or at `url`. */
  destinations(accounts: number, each: number, url?: string): Promise<StagedDestination[]>;
  /** Adds webhooks to an account. */
  webhooks(accountId: number, count: number, url?: string): Promise<StagedDestination[]>;
  /** Queues `count` events for one destination in one transaction. Resolves when it is committed. */
  queue(destination: StagedDestination, count: number, kind?: EventKind): Promise<void>;
  /** Waits until the destinations have nothing queued and the log has every end. Returns whether that came in time. */
  settled(seconds: number): Promise<boolean>;
}

/** Starts a stage, runs `act`, and always cleans up. `above` is the working folder if a fault needs its own. */
export async function onNotifiedStage<T>(
  act: (stage: NotifiedStage) => Promise<T>,
  above?: string,
): Promise<T> {
  const stage = await setStage(NOTIFYING, above);
  const receiver = await startReceiver();
  const pools: pg.Pool[] = [];
  try {
    return await act(notified(stage, receiver, pools));
  } finally {
    await Promise.all(pools.map((pool) => pool.end()));
    await stage.stop();
    await receiver.stop();
  }
}

function notified(stage: Stage, receiver: Receiver, pools: pg.Pool[]): NotifiedStage {
  const address = parseStoreUrl(stage.storeUrl(stage.storeFolder, 5432));
  const writer = openPool(address, 'writer', { max: 10 });
  pools.push(writer);
  const secret = secretKeys({ givenSecret: null, dataDir: dirname(stage.storeFolder) });

  async function webhooks(accountId: number, count: number, url = receiver.url) {
    const made: StagedDestination[] = [];
    for (let n = 0; n < count; n += 1) {
      const wanted = {
        name: `Receiver ${n} ${url}`,
        channel: 'webhook' as const,
        url: `${url}/${accountId}-${n}`,
        kinds: ['alert.triggered', 'health_check.completed'] as const,
      };
      const { destination } = await changeAccount(writer, accountId, (change) =>
        addDestination(change, secret, { allowPrivate: true }, wanted),
      );
      made.push({ accountId, id: destination.id });
    }
    return made;
  }

  return Object.assign(stage, {
    receiver,
    webhooks,
    async destinations(accounts: number, each: number, url = receiver.url) {
      const made: StagedDestination[] = [];
      for (let n = 0; n < accounts; n += 1) {
        const { id: accountId } = await stage.account(...UNLIMITED);
        made.push(...(await webhooks(accountId, each, url)));
      }
      return made;
    },
    queue({ accountId, id }: StagedDestination, count: number, kind: EventKind = 'alert.triggered') {
      const events = Array.from({ length: count }, () => injected(kind, id));
      return changeAccount(writer, accountId, ({ client, at }) =>
        queueEvents(client, { accountId, at }, events),
      );
    },
    async settled(seconds: number) {
      for (const until = Date.now() + seconds * 1_000; Date.now() < until; await wait(250)) {
        const [left] = await stage
          .query<{ left: number }>(
            `select count(*)::int as left from delivery where state = 'queued' or not is_logged`,
          )
          .catch(() => []);
        if (left?.left === 0) return true;
      }
      return false;
    },
  });
}

function injected(kind: EventKind, destinationId: number): NewEvent {
  return {
    kind,
    severity: 'critical',
    connection: null,
    destinationIds: [destinationId],
    data: { note: 'injected', queued_at: new Date().toISOString() },
    details: {
      connection: null,
      title: 'Injected',
      check_id: null,
      database: '',
      object: null,
      metric_line: null,
      measured: null,
      since: null,
      remediation: null,
      resolution: null,
      page: PAGE_LINKS.alert(1),
    },
  };
}
