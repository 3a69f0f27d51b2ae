import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { urlOf } from '../../../test/cells/two-cells.ts';
import { command } from '../../../test/contract/command.ts';
import { startProcess, temporaryFolder } from '../../../test/contract/running-service.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';

let store: TestStore;
let environment: Record<string, string>;

beforeAll(async () => {
  store = await startTestStore();
  const key = await store.watched();
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at)
     values ($1, $2, interval '5 minutes', now() - interval '1 hour')`,
    [key.accountId, key.connectionId],
  );
  writeKeys(randomBytes(32));
  environment = {
    DATABASE_URL: urlOf(store),
    DBVITALS_SECRET_KEY_FILE: file,
    PORT: '0',
  };
});
afterAll(async () => {
  folder.remove();
  await store.stop();
});

const folder = temporaryFolder();
const file = join(folder.path, 'secret-keys');
const writeKeys = (...keys: Buffer[]) =>
  writeFileSync(file, keys.map((key) => `${key.toString('hex')}\n`).join(''), { mode: 0o600 });

const unclaimed = async () => {
  const { rows } = await store.writer.query(
    'select claimed_by, due_at < now() as is_due, (select count(*) from health_check) as runs from connection_schedule',
  );
  expect(rows).toEqual([{ claimed_by: null, is_due: true, runs: 0 }]);
};

test('a service with the secret key of another store is not ready, and takes no health check', async () => {
  const service = startProcess(['serve'], { ...environment, LOG_LEVEL: 'warn' });
  try {
    const [, url = ''] = await service.says(/"url":"(http:[^"]+)","msg":"dbvitals listens, and is not ready/);
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, await answer.text()]).toEqual([
      503,
      expect.stringMatching(/^the secret key is not that of the store: see the log/),
    ]);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
  } finally {
    await service.stop();
  }
  const lines = service.output().trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('The secret key decrypts nothing in the store: set DBVITALS_SECRET_KEY');
  expect(service.output()).not.toMatch(/stack|\bat /);
  await unclaimed();
});

test('a monitor with that key ends with a sentence', async () => {
  const { exit, stderr } = await command(['monitor'], { environment });
  expect(exit).toBe(1);
  expect(stderr).toMatch(/^error: The secret key decrypts nothing in the store: [^\n]*\n$/);
  await unclaimed();
});

test('on SIGHUP a service takes the keys that its file has now, unless they decrypt less of the store', async () => {
  const foreign = randomBytes(32);
  writeKeys(foreign);
  const service = startProcess(['serve', '--no-monitor'], environment);
  const isReady = async (url: string) => (await fetch(`${url}/readyz`)).status;
  const reload = async (line: RegExp) => {
    process.kill(service.pid, 'SIGHUP');
    await service.says(line);
  };
  try {
    const [, url = ''] = await service.says(/"url":"(http:[^"]+)","msg":"dbvitals listens, and is not ready/);
    // What process lists and `systemctl status` show.
    expect(readFileSync(`/proc/${service.pid}/cmdline`, 'utf8')).toMatch(/^dbvitals serve --no-monitor\0*$/);
    const [own] = store.deps.secret;
    writeKeys(foreign, own);
    await reload(/"keys":2,"msg":"secret keys: using those that the file has now"/);
    await expect.poll(() => isReady(url)).toBe(200);
    // Without the old key, before anything was encrypted with the new one; and a file that is none.
    writeKeys(foreign);
    await reload(/They do not decrypt 1 of the store's keys: .*keeping the old ones/);
    writeFileSync(file, 'unspoken nonsense');
    await reload(/The file of DBVITALS_SECRET_KEY_FILE must be 32 bytes[^\n]*keeping the old ones/);
    expect(await isReady(url)).toBe(200);
  } finally {
    await service.stop();
  }
  expect(service.output()).not.toMatch(/unspoken|"stack"/);
});

test('what needs a key of the store says in one sentence that it is not this one, and makes no key and no file', async () => {
  const [own] = store.deps.secret;
  const sealed = await store.account();
  const account = ['--account', `${sealed}`];
  writeKeys(own);
  for (const id of [sealed, await store.account()])
    await changeAccount(store.writer, id, async ({ record }) =>
      record('account_created', '/account', {
        name: 'n',
        kind: 'company',
        plan: 'team',
        requests_per_minute: null,
      }),
    );
  expect(await command(['activity', 'seal', ...account], { environment })).toMatchObject({ exit: 0 });
  const before = await readKeys();
  writeKeys(randomBytes(32));
  const out = join(folder.path, 'exported');
  const unsealed = ['--account', `${sealed + 1}`];
  const wanted = join(folder.path, 'wanted.yaml');
  writeFileSync(wanted, 'accounts:\n  - name: New\n    plan: team\n');
  for (const args of [
    ['activity', 'export', ...account, '--out', out],
    ['activity', 'seal', ...account, '--public-key'],
    ['activity', 'export', ...unsealed, '--out', out],
    ['activity', 'seal', ...unsealed, '--public-key'],
    ['activity', 'seal'],
    ['connection', 'add', ...unsealed, '--name', 'c', '--url', 'postgres://watcher:x@db.example.com/shop'],
    [
      'destination',
      'add',
      ...unsealed,
      '--name',
      'w',
      '--channel',
      'webhook',
      '--url',
      'https://example.com/x',
    ],
    ['apply', '-f', wanted],
  ]) {
    const { exit, stdout, stderr } = await command(args, { environment });
    expect([exit, stdout], args.join(' ')).toEqual([1, '']);
    expect(stderr, args.join(' ')).toMatch(
      /^error: The secret key decrypts nothing in the store: set [^\n]*\.\n$/,
    );
  }
  expect(existsSync(out)).toBe(false);
  expect(await readKeys()).toEqual(before);
});

/** The accounts whose keys the store has, which the secret key encrypts. */
async function readKeys(): Promise<unknown[]> {
  const owner = await store.superuser('store');
  const { rows } = await owner.query(`
    select 'credential' as kind, account_id from credential_key
     union all
    select 'seal', account_id from seal_key
     order by 1, 2`);
  return rows;
}
