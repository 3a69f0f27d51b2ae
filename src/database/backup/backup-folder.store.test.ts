import {
  existsSync,
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
import { openPool, type StoreAddress } from '../connect.ts';
import { migrate } from '../migrate.ts';
import { backUp } from './backup.ts';
import { type BackupStore, SECRET, sentence, startBackupStore } from './backup-fixture.ts';
import { backUpIntoFolder } from './backup-folder.ts';
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

test('a backup folder is created, keeps the newest backups, and loses none when a backup fails', async () => {
  const backups = join(folder, 'new', 'backups');
  const night = (keep: number) =>
    backUpIntoFolder(backups, keep, SECRET, (path) => backUp(source, path, '1', SECRET));
  const { file: first } = await night(2);
  expect(statSync(backups).mode & 0o777).toBe(0o700);
  expect(first).toMatch(/backups.dbvitals-\d{8}T\d{6}Z\.backup$/);
  const earlier = ['dbvitals-20200101T000000Z.backup', 'dbvitals-20210101T000000Z.backup'];
  const drafts = ['dbvitals-20200101T000000Z.backup.7.part', 'dbvitals-20210101T000000Z.backup.8.part'];
  for (const name of [...earlier, ...drafts, 'other.backup']) writeFileSync(join(backups, name), 'x');
  utimesSync(join(backups, drafts[0] ?? ''), 0, 0); // the other one may be under way
  rmSync(first);
  const kept = await night(2);
  expect(kept.removed).toEqual(earlier.slice(0, 1));
  const there = readdirSync(backups).toSorted();
  expect(there).toEqual(
    [...earlier.slice(1), ...drafts.slice(1), basename(kept.file), 'other.backup'].toSorted(),
  );

  rmSync(kept.file);
  const cut = backUpIntoFolder(backups, 1, SECRET, async (path) => {
    const made = await backUp(source, path, '1', SECRET);
    truncateSync(path, made.bytes - 20);
    return made;
  });
  expect(await sentence(cut)).toMatch(/not a complete backup of dbvitals: it is cut off/);
  const altered = backUpIntoFolder(backups, 1, SECRET, async (path) => {
    const made = await backUp(source, path, '1', SECRET);
    const text = gunzipSync(readFileSync(path)).toString('latin1');
    writeFileSync(path, gzipSync(Buffer.from(text.replace('Ada', 'Eve'), 'latin1')));
    return made;
  });
  expect(await sentence(altered)).toMatch(/differs from what was written/);
  expect(readdirSync(backups)).toEqual(there.filter((name) => name !== basename(kept.file)));
  expect(
    await sentence(backUpIntoFolder(join(file, 'x'), 1, SECRET, (path) => backUp(source, path, '1', SECRET))),
  ).toMatch(/^The folder .* can't be created \(ENOTDIR\): as root, run "install --directory/);
});

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

  // A store that is not writable is backed up too.
  await root.query('alter role plain set default_transaction_read_only = on');
  expect(await attempt(async () => ({ bytes: 13 }))).toEqual({ bytes: 13 });
  await root.query('alter role plain reset default_transaction_read_only');
  expect(unrecorded).toEqual([expect.stringMatching(/read-only transaction/)]);
  expect((await readLastBackup(owner)).bytes).toBe(12);
  await owner.end();
});
