import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { NewKey } from '../../test/contract/account.ts';
import { commandJson } from '../../test/contract/command.ts';
import { startService, temporaryFolder } from '../../test/contract/running-service.ts';
import { createClient } from '../src/index.ts';

// The service cuts the log a minute after its start.
test('follow goes on where the log begins, when it is cut by age while it is read', {
  timeout: 180_000,
}, async () => {
  const folder = temporaryFolder();
  const environment = { DBVITALS_DATA_DIR: join(folder.path, 'data'), DBVITALS_ACTIVITY_DAYS: '10' };
  const service = await startService(environment, ['--no-monitor']);
  try {
    const make = <T>(...args: string[]) => commandJson<T>(args, { environment });
    await make(
      'account',
      'create',
      '--name',
      'Old',
      '--plan',
      'enterprise',
      '--requests-per-minute',
      '100000',
    );
    await make('sample-data', '--account', '2', '--activity', '2000', '--days', '30');
    const { key } = await make<NewKey>('key', 'create', '--account', '2', '--name', 'collector');
    const dbvitals = createClient({ baseUrl: service.origin, apiKey: key });

    const entries = dbvitals.activity.follow({ afterId: 0 });
    const ids = [(await entries.next()).value.id];
    const first = async () =>
      (await dbvitals.activity({ order: 'asc', per_page: 1 }).pages().next()).value?.data[0]?.id;
    await expect.poll(first, { timeout: 120_000, interval: 1_000 }).toBeGreaterThan(1_000);
    while (ids.length < 500) ids.push((await entries.next()).value.id);

    const begin = (await first()) ?? 0;
    expect(ids.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
    expect(ids.slice(100)).toEqual(Array.from({ length: 400 }, (_, at) => begin + at));
  } finally {
    await service.stop();
    folder.remove();
  }
});
