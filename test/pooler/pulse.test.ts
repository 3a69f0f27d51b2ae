import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, inject, onTestFinished, test } from 'vitest';
import { blockSession, findBlocking, requireReading } from '../../src/monitor/pulse/blocking-fixture.ts';
import { HeldSession } from '../../src/monitor/pulse/held-session.ts';
import { temporaryFolder } from '../contract/running-service.ts';
import { PASSWORD, startBouncer } from './bouncer.ts';

const address = new URL(inject('sharedStore')['DATABASE_URL'] ?? '');
const host = decodeURIComponent(address.hostname);
const folder = temporaryFolder();
afterAll(() => folder.remove());

/** A session of an application, through the pooler or beside it. */
async function open(at: { host: string; port: number }): Promise<pg.Client> {
  const client = new pg.Client({ ...at, user: 'dbvitals', password: PASSWORD, database: 'dbvitals' });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

test('a watched server behind a pooler in transaction mode has pulses, also while it is full and after it was restarted', async () => {
  const start = (number: number, port?: number) =>
    startBouncer(
      host,
      join(folder.path, `pulse-${number}`),
      (documented) =>
        documented
          .replace('[databases]', `[databases]\ndbvitals = host=${host} port=5432 dbname=dbvitals`)
          .replace(/^default_pool_size = .*$/m, 'default_pool_size = 2'),
      port === undefined ? {} : { port },
    );
  const bouncer = await start(1);
  const pooled = { host: '127.0.0.1', port: bouncer.port };
  const held = new HeldSession(
    {
      engine: 'postgres',
      connectionType: 'direct',
      ...pooled,
      database: 'dbvitals',
      username: 'dbvitals',
      password: PASSWORD,
      tls: 'disable',
      passwordExposable: false,
      caCertificate: null,
      tunnel: null,
    },
    true,
  );
  onTestFinished(() => held.end());
  const first = requireReading(await held.pulse());
  // Sessions of others in between, so that the pulse changes its server connection.
  const [one, two] = await Promise.all([open(pooled), open(pooled)]);
  await Promise.all([one.query('begin'), one.query('select 1'), two.query('select 1')]);
  expect(requireReading(await held.pulse()).started).toBe(first.started);
  expect((await one.query('select name from pg_prepared_statements')).rows).toEqual([]); // others have the session next
  await two.query('begin');
  await two.query('select 1');
  // No connection is left for the pulse, nor for anybody else.
  expect(await held.pulse()).toMatchObject({
    failure: { kind: 'unreachable', reason: expect.stringMatching(/did not answer/) },
  });
  await Promise.all([one.query('commit'), two.query('commit')]);
  await blockSession(() => open({ host, port: 5432 }));
  await findBlocking(held);
  await bouncer.stop();
  const again = await start(2, bouncer.port);
  onTestFinished(() => again.stop());
  expect(requireReading(await held.pulse()).waits).toHaveLength(1);
});
