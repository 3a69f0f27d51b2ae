import { existsSync, rmSync, statfsSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeMemoryFolder, ROOM } from './memory-folder.ts';

test('a run has a folder in memory that other users can enter, exactly where there is room', () => {
  const memory = existsSync('/dev/shm') ? statfsSync('/dev/shm') : { bavail: 0, bsize: 0 };
  const hasRoom = Math.min(memory.bavail * memory.bsize, process.availableMemory()) >= ROOM;
  const made = makeMemoryFolder();
  expect(made).toEqual(hasRoom ? expect.stringMatching(/^\/dev\/shm\/dbvitals-\w+$/) : null);
  if (made === null) return;
  expect(statSync(made).mode & 0o777).toBe(0o711);
  rmSync(made, { recursive: true });
});

test('a run has no folder in memory where more room is needed than there is', () => {
  expect(makeMemoryFolder(Number.MAX_SAFE_INTEGER)).toBeNull();
});
