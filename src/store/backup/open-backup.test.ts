import { readdirSync, readlinkSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { openBackup } from './open-backup.ts';

afterEach(() => vi.unstubAllEnvs());

/** The open files of this process at a path. */
const openAt = (path: string) =>
  readdirSync('/proc/self/fd').filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
    } catch {
      return false; // closed meanwhile
    }
  });

test('a backup that is refused is closed, and the sentence says why', async () => {
  await expect(openBackup('/etc')).rejects.toThrow('/etc is a folder: name a backup file.');
  expect(openAt('/etc')).toEqual([]);
  vi.stubEnv('TMPDIR', '/nonexistent');
  const refused = "The backup can't be copied to /nonexistent (ENOENT): free up space, or set TMPDIR";
  await expect(openBackup('/dev/zero')).rejects.toThrow(refused);
  await expect.poll(() => openAt('/dev/zero')).toEqual([]); // its stream closes it in a moment
});

test('what is no backup is refused at its first bytes, also an endless device', async () => {
  for (const path of ['/dev/zero', '/dev/urandom'])
    await expect(openBackup(path)).rejects.toThrow('This is not a complete backup of dbvitals');
  const slow = Readable.from(
    (async function* () {
      for (;;) yield Buffer.from('s');
    })(),
  );
  await expect(openBackup(slow)).rejects.toThrow('This is not a complete backup of dbvitals');
});
