import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { ask, read } from './ask.ts';
import { command, commandJson, FULL_DEVICE, intoFullDevice } from './command.ts';
import type { Fleet, HealthCheck } from './records.ts';
import { embeddedUrl, startService, temporaryFolder } from './running-service.ts';

const FLEET = '/api/v1/health/fleet';
const folder = temporaryFolder();
const before = join(folder.path, 'before');
const after = join(folder.path, 'after');
const file = join(folder.path, 'store.backup');
const alteredFile = join(folder.path, 'altered.backup');

afterAll(() => folder.remove());

/** Each in a process of its own: a backup goes to standard output as bytes. */
const on = (dataFolder: string) => ({ environment: { DBVITALS_DATA_DIR: dataFolder }, ownProcess: true });

/** That a backup names every table is the concern of backup.store.test.ts. */
let tables = 0;

test('a running store is backed up, destroyed and restored elsewhere', async () => {
  const first = await startService(on(before).environment, ['--no-monitor']);
  const [, key = ''] = await first.says(/API key +(dbv_live_\w{49})/);
  const asked = { key, origin: first.origin };
  const fleet = await read<Fleet>(FLEET, key, asked);
  await commandJson(['activity', 'seal'], on(before));

  const made = await commandJson<{ tables: number }>(['backup', file], on(before));
  ({ tables } = made);
  expect(made).toMatchObject({
    file,
    tables: expect.any(Number),
    holds_secret: false,
    sha256: expect.stringMatching(/^\w{64}$/),
  });
  const again = await command(['backup', file], on(before));
  expect(again).toMatchObject({ exit: 2, stderr: expect.stringMatching(/already exists: .*--force/) });
  const forced = await command(['backup', file, '--force'], on(before));
  expect(forced.exit).toBe(0);
  expect(forced.stdout).toContain(
    `The backup does not contain the secret key: keep ${join(before, 'secret.key')} elsewhere.`,
  );

  const owner = new pg.Client(embeddedUrl(before)['DATABASE_URL']);
  await owner.connect();
  await owner.query(`update activity set page_path = '/other' where account_id = 1 and id = 2`);
  await owner.end();
  await commandJson(['backup', alteredFile], on(before));

  // Over a store in use nothing is restored, and it serves on.
  const over = await command(['restore', file], on(before));
  expect(over).toMatchObject({ exit: 1, stderr: expect.stringMatching(/^error: .*in use/) });
  expect((await ask(FLEET, asked)).status).toBe(200);
  await first.stop();
  const full = await command(['restore', file], on(before));
  expect(full).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/^error: The store holds data already/),
  });

  // Elsewhere, where another secret is made when none is given.
  const strange = await command(['restore', file], on(after));
  expect(strange).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/^error: The backup is not signed with this secret key/),
  });
  const insisted = await command(['restore', file, '--unsigned'], on(after));
  expect(insisted).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/^error: Nothing was restored, because the secret key is not the one/),
  });
  mkdirSync(after, { recursive: true });
  copyFileSync(join(before, 'secret.key'), join(after, 'secret.key'));
  const restored = await commandJson(['restore', file], on(after));
  expect(restored).toMatchObject({ applied: [], seals: { verified: 1, broken: [] } });

  const second = await startService(on(after).environment, ['--no-monitor']);
  expect(await read<Fleet>(FLEET, key, { origin: second.origin })).toEqual(fleet);
  // It watches itself by the socket and the password that it has now.
  const { summary_text, score } = await commandJson<HealthCheck>(
    ['check', 'run', '--connection', '1'],
    on(after),
  );
  expect(summary_text).not.toMatch(/unreachable/i);
  expect(score).toBeGreaterThan(0);
  await second.stop();
});

test('a backup to standard output is the same, and messages go to standard error', async () => {
  const { exit, stdout, stderr } = await command(['backup', '-'], on(after));
  expect(exit).toBe(0);
  expect(stdout.slice(0, 1)).toBe('\u001f'); // gzip
  expect(stderr).toMatch(
    new RegExp(`^Written: \\d+ rows of ${tables} tables, .*\\nSHA-256 \\w{64}\\.\\n.*elsewhere`),
  );
  expect(await command(['backup', '-', '--json'], on(after))).toMatchObject({ exit: 2 });
  expect(intoFullDevice(['backup', '-'], on(after).environment)).toEqual(FULL_DEVICE);
});

test('a restore without the old secret key says so and restores the rest', async () => {
  const lost = join(folder.path, 'lost');
  const { exit, stdout } = await command(['restore', file, '--lost-secret', '--unsigned'], on(lost));
  expect(exit).toBe(0);
  expect(stdout).toMatch(
    new RegExp(
      `^Restored \\d+ rows of ${tables} tables .*\\nThe seals can't be verified without the secret key\\.$`,
      'm',
    ),
  );
  expect(await commandJson(['account', 'list'], on(lost))).toHaveLength(1);
  expect(readFileSync(join(lost, 'secret.key'))).not.toEqual(readFileSync(join(before, 'secret.key')));
});

test('an altered backup is refused, even with matching hashes', async () => {
  const planted = join(folder.path, 'planted');
  mkdirSync(planted);
  copyFileSync(join(before, 'secret.key'), join(planted, 'secret.key'));
  const text = gunzipSync(readFileSync(file)).toString();
  const rows = (of: string) => /^copy account .*\n([\s\S]*?)\\\.\n/m.exec(of)?.[1] ?? '';
  const sha256 = (of: string) => createHash('sha256').update(rows(of)).digest('hex');
  const other = text.replace(rows(text), rows(text).replace('enterprise', 'individual'));
  expect(sha256(other)).not.toBe(sha256(text));
  const forged = join(folder.path, 'forged.backup');
  writeFileSync(forged, gzipSync(other.replace(sha256(text), sha256(other))));
  expect(await command(['restore', forged], on(planted))).toMatchObject({
    exit: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^error: The backup is not signed with this secret key \(it was altered.*--unsigned.*\.\n$/,
    ),
  });
  expect((await command(['restore', forged, '--unsigned'], on(planted))).exit).toBe(0);
});

test('the restore reports a log that differs from its seals', async () => {
  const altered = join(folder.path, 'altered');
  mkdirSync(altered);
  copyFileSync(join(before, 'secret.key'), join(altered, 'secret.key'));
  const { exit, stdout, stderr } = await command(['restore', alteredFile], on(altered));
  expect(exit).toBe(2);
  expect(stdout).toMatch(/^Restored .*\nVerified the logs of 0 accounts: they match their seals\.$/m);
  expect(stderr).toBe('error: Entry 2 of account 1 was edited.\n');
});

test('a backup is verified without a store', async () => {
  const nowhere = join(folder.path, 'verified');
  mkdirSync(nowhere);
  copyFileSync(join(before, 'secret.key'), join(nowhere, 'secret.key'));
  const good = await command(['backup', 'verify', file], on(nowhere));
  expect(good).toMatchObject({ exit: 0, stderr: '' });
  expect(good.stdout).toMatch(
    new RegExp(` is complete and signed with this secret key: \\d+ rows of ${tables} tables, as they `),
  );
  expect(readdirSync(nowhere)).toEqual(['secret.key']);
  const several = ['backup', 'verify', file, join(nowhere, 'secret.key'), alteredFile];
  const each = await command(several, on(nowhere));
  expect([each.exit, each.stdout.match(/^.+ is complete and signed/gm)]).toEqual([
    1,
    [file, alteredFile].map((name) => `${name} is complete and signed`),
  ]);
  expect(each.stderr).toBe(
    `error: ${join(nowhere, 'secret.key')}: This is not a complete backup of dbvitals: it is cut off or altered. Nothing was changed; use another file.\n`,
  );
  const shown = await command([...several, '--json'], on(nowhere));
  expect(JSON.parse(shown.stdout)).toMatchObject({
    verified: [{ file, signed: true, tables }, { file: alteredFile }],
    failed: [expect.stringContaining('secret.key: This is not a complete backup')],
  });
  const piped = await command(['restore', '-'], {
    environment: { DBVITALS_DATA_DIR: join(folder.path, 'piped') },
    input: 'select 1;',
  });
  expect(piped).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/^error: This is not a complete backup/),
  });
  for (const words of [
    ['restore', '/etc'],
    ['backup', 'verify', '/etc'],
  ])
    expect(await command(words, on(nowhere))).toEqual({
      exit: 1,
      stdout: '',
      stderr: 'error: /etc is a folder: name a backup file.\n',
    });
});

test('a missing file is a usage error', async () => {
  expect(await command(['restore', join(folder.path, 'none')], on(after))).toMatchObject({ exit: 2 });
});
