import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { changeAccount } from '../../../src/activity/record-entry.ts';
import { secretKeys } from '../../../src/config/secret-key.ts';
import { parseStoreUrl } from '../../../src/config/store-url.ts';
import { addDestination } from '../../../src/notifications/destinations/add-destination.ts';
import { openPool } from '../../../src/store/connect.ts';
import { type Stage, setStage } from '../stage.ts';
import { type StreamReceiver, startStreamReceiver } from './stream-receiver.ts';

/** A stage whose account has log streams. */
export interface StreamStage extends Stage {
  receiver: StreamReceiver;
  /** Adds a stream to a path of the receiver, which begins with the first entry. */
  stream(path: string): Promise<void>;
  /** Writes entries in transactions of at most 250. */
  write(count: number): Promise<void>;
  /** The id of the newest entry. */
  newest(): Promise<number>;
  /** Waits until the receiver has this entry at a path. Returns whether that came in time. */
  reaches(path: string, id: number, seconds: number): Promise<boolean>;
}

/** Starts a stage with a receiver of streams, runs `act`, and always cleans up. */
export async function onStreamStage<T>(act: (stage: StreamStage) => Promise<T>): Promise<T> {
  const stage = await setStage({ DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes' });
  const receiver = await startStreamReceiver();
  const writer = openPool(parseStoreUrl(stage.storeUrl(stage.storeFolder, 5432)), 'writer', { max: 4 });
  const secret = secretKeys({ givenSecret: null, dataDir: dirname(stage.storeFolder) });
  const own = {
    receiver,
    async stream(path: string) {
      const url = `${receiver.url}${path}`;
      const wanted = { name: path, channel: 'log_http' as const, url, stream: { fromId: 1 } };
      await changeAccount(writer, stage.id, (change) =>
        addDestination(change, secret, { allowPrivate: true }, wanted),
      );
    },
    async write(count: number) {
      for (let left = count; left > 0; left -= 250)
        await changeAccount(writer, stage.id, async ({ record }) => {
          for (let n = 0; n < Math.min(left, 250); n += 1)
            record('connection_tagged', '/c', { connection_id: 1, name: 'injected', added: [], removed: [] });
        });
    },
    async newest() {
      const [head] = await stage.query<{ id: number }>(
        'select last_id::int as id from activity_head where account_id = $1',
        [stage.id],
      );
      return head?.id ?? 0;
    },
    async reaches(path: string, id: number, seconds: number) {
      const { times } = receiver.of(path);
      for (const until = Date.now() + seconds * 1_000; Date.now() < until; await wait(20))
        if (times.has(id)) return true;
      return false;
    },
  };
  try {
    return await act(Object.assign(stage, own));
  } finally {
    await writer.end();
    await stage.stop();
    await receiver.stop();
  }
}
