import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bareEnvironment, MAIN } from '../../../test/contract/running-service.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { interruptible } from '../../cli/store/interrupt.ts';
import type { StoreAddress } from '../../config/store-url.ts';
import { openPool } from '../connect.ts';
import { migrate } from '../migrate.ts';
import { backUp } from './backup.ts';
import { type BackupStore, SECRET, sentence, startBackupStore } from './backup-fixture.ts';
import { backUpIntoFolder } from './backup-folder.ts';
import { withBackupLock } from './backup-lock.ts';
import { hasFailed, readLastBackup, recordBackup } from './last-backup.ts';

let backups: BackupStore;
let root: pg.Client;
let folder: string;
let source: StoreAddress;
let file: string;
let emptyDatabase: BackupStore['emptyDatabase'];
let connect: BackupStore['connect'];

beforeAll(async () => {
  backups = await startBackupStore();
  ({ root, folder, source, file, emptyDatabase, connect } = backups);
});

afterAll(() => backups.stop());

test('only its owner can read the file, and it is written completely or not at all', async () => {
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const nowhere = join(folder, 'no such folder', 'x.backup');
  expect(await sentence(backUp(source, nowhere, '1', SECRET))).toMatch(
    /^The backup can't be written to .* \(ENOENT\)/,
  );
  // A table in the middle that can't be read.
  const target = join(folder, 'broken.backup');
  const broken = await emptyDatabase('broken');
  await migrate(broken);
  await (await connect(broken)).query('revoke select on seal_key from plain');
  expect(await sentence(backUp(broken, target, '1', SECRET))).toMatch(/permission denied for table seal_key/);
  expect(existsSync(target)).toBe(false);
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  expect(await sentence(backUp(await emptyDatabase('nothing'), target, '1', SECRET))).toMatch(
    /^There is nothing to back up/,
  );
});

const intoFolder = (
  address: StoreAddress,
  into: string,
  keep: number,
  backUpTo = (path: string) => backUp(address, path, '1', SECRET),
) => backUpIntoFolder(address, into, { keep, secretKey: SECRET }, backUpTo);

test('a backup folder is created, keeps the newest backups, and loses none when a backup fails', async () => {
  const backups = join(folder, 'new', 'backups');
  const { file: first } = await intoFolder(source, backups, 2);
  expect(statSync(backups).mode & 0o777).toBe(0o700);
  const [, id = ''] = /backups.dbvitals-cell-\d+-([0-9a-f]{16})-\d{8}T\d{9}Z\.backup$/.exec(first) ?? [];
  const at = (year: number) => `dbvitals-${id}-${year}0101T000000000Z.backup`;
  const earlier = [at(2020), at(2021).replace('dbvitals-', 'dbvitals-cell-1-')];
  const drafts = [`${at(2020)}.7a.part`, `${at(2021)}.8b.part`];
  const others = ['other.backup', 'dbvitals-20200101T000000Z.backup', at(2020).replace(id, '0'.repeat(16))];
  for (const name of [...earlier, ...drafts, ...others]) writeFileSync(join(backups, name), 'x');
  utimesSync(join(backups, drafts[0] ?? ''), 0, 0); // the other one may be under way
  rmSync(first);
  const kept = await intoFolder(source, backups, 2);
  expect(kept.removed).toEqual(earlier.slice(0, 1));
  const there = readdirSync(backups).toSorted();
  expect(there).toEqual([...earlier.slice(1), ...drafts.slice(1), basename(kept.file), ...others].toSorted());

  rmSync(kept.file);
  const cut = intoFolder(source, backups, 1, async (path) => {
    const made = await backUp(source, path, '1', SECRET);
    truncateSync(path, made.bytes - 20);
    return made;
  });
  expect(await sentence(cut)).toMatch(/differs from what was written/);
  const altered = intoFolder(source, backups, 1, async (path) => {
    const made = await backUp(source, path, '1', SECRET);
    const text = gunzipSync(readFileSync(path)).toString('latin1');
    writeFileSync(path, gzipSync(Buffer.from(text.replace('Ada', 'Eve'), 'latin1')));
    return made;
  });
  expect(await sentence(altered)).toMatch(/differs from what was written/);
  expect(readdirSync(backups)).toEqual(there.filter((name) => name !== basename(kept.file)));
  expect(await sentence(intoFolder(source, join(file, 'x'), 1))).toMatch(
    /^The folder .* can't be created \(ENOTDIR\): as root, run "install --directory/,
  );
});

test('a backup does not wait for ever for one that hangs, and says so', async () => {
  const failed: string[] = [];
  await withBackupLock(source, undefined, async () => {
    const late = withBackupLock(source, undefined, () => Promise.resolve('made'), 0.3);
    failed.push(await sentence(late));
  });
  expect(failed).toEqual([
    'Another backup of this store has been under way for 0.005 minutes, so this one was not made: end that process if it hangs.',
  ]);
  expect(await withBackupLock(source, undefined, () => Promise.resolve('made'), 0.3)).toBe('made');
});

test('stores that share a folder lose no backup to each other, in parallel and in turn', async () => {
  const shared = join(folder, 'shared');
  // A copy of a store has the same content, and was created at the same time.
  const model = await emptyDatabase('model');
  await migrate(model);
  await root.query('create database copied template model owner plain');
  const copied: StoreAddress = model.map((host) => ({ ...host, database: 'copied' }));
  const made = await Promise.all([model, copied, model, copied].map((each) => intoFolder(each, shared, 2)));
  expect(new Set(made.map((each) => each.file)).size).toBe(4);
  expect(readdirSync(shared).toSorted()).toEqual(made.map((each) => basename(each.file)).toSorted());
  const last = await intoFolder(model, shared, 1);
  expect(last.removed).toHaveLength(2);
  expect(readdirSync(shared)).toHaveLength(3);
  for (const name of readdirSync(shared))
    expect(made.concat(last).map((each) => basename(each.file))).toContain(name);
});

const commandEnvironment = ([{ host = '', user, password, database } = {}]: StoreAddress) => ({
  ...bareEnvironment(folder),
  DATABASE_URL: `postgres://${user}:${password}@${encodeURIComponent(host)}/${database}`,
  DBVITALS_SECRET_KEY: SECRET.toString('hex'),
});

test('backups that were made while the clock was ahead go before those of now', async () => {
  const store = await emptyDatabase('ahead');
  await migrate(store);
  const into = join(folder, 'ahead');
  const { file: first } = await intoFolder(store, into, 3);
  const nameIn = (ms: number) =>
    basename(first).replace(/\d{8}T\d{9}Z/, new Date(Date.now() + ms).toISOString().replace(/[-:.]/g, ''));
  const hour = 3_600_000;
  const ahead = [1, 2, 24, 48, 24 * 365].map((hours) => nameIn(hours * hour));
  const beside = nameIn(60_000); // of a machine whose clock differs a little
  const yesterday = nameIn(-24 * hour);
  for (const name of [...ahead, beside, yesterday]) writeFileSync(join(into, name), 'x');
  const made = await intoFolder(store, into, 5);
  expect(made.removed).toEqual(ahead.slice(0, 4));
  expect(made.ahead).toEqual(ahead.slice(4));
  const left = [yesterday, basename(first), basename(made.file), beside, ...made.ahead];
  expect(readdirSync(into).toSorted()).toEqual(left.toSorted());

  const run = (keep: number) =>
    spawnSync(process.execPath, [MAIN, 'backup', '--folder', into, '--keep', `${keep}`], {
      cwd: folder,
      env: commandEnvironment(store),
      encoding: 'utf8',
    });
  const line = `Backups dated in the future: 1, such as ${ahead[4]}. The clock was ahead when they were made, or is behind now. They are removed before others.\n`;
  expect(run(7).stdout).toContain(line);
  expect(readdirSync(into)).toHaveLength(6);
  const { status, stdout } = run(5);
  expect([status, stdout.includes('in the future')]).toEqual([0, false]);
  expect(readdirSync(into)).not.toContain(ahead[4]);
  // All others are of the future: what was just made stays.
  for (const name of readdirSync(into)) rmSync(join(into, name));
  for (const name of ahead) writeFileSync(join(into, name), 'x');
  const alone = await intoFolder(store, into, 1);
  expect(readdirSync(into)).toEqual([basename(alone.file)]);
});

/** Backs up into a folder with the command, where `busy` can't be removed by anybody: it is a mount of this process alone. */
function backUpBeside(busy: string, address: StoreAddress, into: string) {
  const mount = 'mount --bind "$1" "$1" && shift && exec "$@"';
  const own = process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--user', '--map-root-user'];
  const backup = [process.execPath, MAIN, 'backup', '--folder', into, '--keep', '1'];
  return spawnSync('unshare', [...own, 'sh', '-c', mount, 'sh', busy, ...backup], {
    cwd: folder,
    env: commandEnvironment(address),
    encoding: 'utf8',
  });
}

test('what can not be removed is named with the backup that was made, and what is no file is left alone', async () => {
  const lone = await emptyDatabase('lone');
  await migrate(lone);
  const into = join(folder, 'kept');
  const { file: first } = await intoFolder(lone, into, 1);
  const at = (year: number) => first.replace(/-\d{8}T\d{9}Z/, `-${year}0101T000000000Z`);
  mkdirSync(at(2019));
  expect((await intoFolder(lone, into, 1)).removed).toEqual([basename(first)]);
  for (const year of [2020, 2021, 2022]) writeFileSync(at(year), 'x');
  const { status, stdout, stderr } = backUpBeside(at(2020), lone, into);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^error: The backup \S+ is complete, but 1 of 4 older ones can't be removed \(EBUSY\): remove [^\n]+\n$/,
  );
  const [, made = ''] = /^error: The backup (\S+) /.exec(stderr) ?? [];
  expect(readdirSync(into).toSorted()).toEqual([at(2019), at(2020), made].map((path) => basename(path)));
  expect(await sentence(intoFolder(lone, at(2020), 1))).toBe(`${at(2020)} is a file: name a folder.`);
});

test('an existing file is replaced only if that is asked for', async () => {
  const path = join(folder, 'there.backup');
  writeFileSync(path, 'mine');
  expect(await sentence(backUp(source, path, '1', SECRET))).toBe(
    `${path} exists already, and was not changed: give another name.`,
  );
  expect(readFileSync(path, 'utf8')).toBe('mine');
  await backUp(source, path, '1', SECRET, { overwrite: true });
  expect(gunzipSync(readFileSync(path)).toString()).toMatch(/^-- dbvitals backup /);
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a backup that %s interrupts leaves no file',
  async (name) => {
    const blocker = await connect(source);
    await blocker.query('begin; lock table ticket in access exclusive mode');
    const path = join(folder, 'interrupted.backup');
    const work = interruptible('It was interrupted.', (signal) =>
      backUp(source, path, '1', SECRET, { signal }),
    );
    const ended = sentence(work);
    await waitFor(() => expect(readdirSync(folder).filter((each) => each.endsWith('.part'))).toHaveLength(1));
    process.listeners(name).at(-1)?.(name);
    expect(await ended).toBe('It was interrupted.');
    expect(readdirSync(folder).filter((each) => each.startsWith('interrupted'))).toEqual([]);
    await blocker.query('rollback');
  },
);

test('the store records how its last backup went', async () => {
  const owner = openPool(source, 'owner', { max: 1 });
  const unrecorded: string[] = [];
  const attempt = (work: () => Promise<{ bytes: number }>) =>
    recordBackup(source, work, (why) => unrecorded.push(why));
  expect(await readLastBackup(owner)).toEqual({
    succeeded_at: null,
    bytes: null,
    failed_at: null,
    failure: null,
  });
  const full = new Error('The disk is full.');
  await expect(attempt(() => Promise.reject(full))).rejects.toBe(full);
  const failed = await readLastBackup(owner);
  expect(failed).toMatchObject({ succeeded_at: null, failure: 'The disk is full.' });
  expect(hasFailed(failed)).toBe(true);
  await attempt(async () => ({ bytes: 12 }));
  const succeeded = await readLastBackup(owner);
  expect(succeeded).toMatchObject({ bytes: 12, failure: 'The disk is full.' });
  expect(hasFailed(succeeded)).toBe(false);
  expect(unrecorded).toEqual([]);

  // The last one counts, also if the clock was ahead at the one before.
  const shift = (column: string) =>
    owner.query(`update last_backup set ${column} = clock_timestamp() + interval '1 year'`);
  await shift('succeeded_at');
  await expect(attempt(() => Promise.reject(full))).rejects.toBe(full);
  expect(hasFailed(await readLastBackup(owner))).toBe(true);
  await shift('failed_at');
  await attempt(async () => ({ bytes: 12 }));
  expect(hasFailed(await readLastBackup(owner))).toBe(false);

  // A store that is not writable is backed up too.
  await root.query('alter role plain set default_transaction_read_only = on');
  expect(await attempt(async () => ({ bytes: 13 }))).toEqual({ bytes: 13 });
  await root.query('alter role plain reset default_transaction_read_only');
  expect(unrecorded).toEqual([expect.stringMatching(/read-only transaction/)]);
  expect((await readLastBackup(owner)).bytes).toBe(12);
  await owner.end();
});
