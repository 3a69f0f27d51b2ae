import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startProcess } from './running-service.ts';

const REPORT = `import { readdirSync } from 'node:fs'; console.log(JSON.stringify([
  process.cwd(), process.env.HOME, process.env.TMPDIR, readdirSync('.')
]))`;

/** Where a command worked, its home, its temporary folder, and what lay there. */
async function surroundings(): Promise<[string, string, string, string[]]> {
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(REPORT)}`];
  const { ended, output } = startProcess(['--version'], {}, '', flags);
  await ended;
  return JSON.parse(output().split('\n')[0] ?? '');
}

test('each command works in an empty folder of its own, which is its home and is removed', async () => {
  const [one, other] = await Promise.all([surroundings(), surroundings()]);
  for (const [folder, home, temporary, files] of [one, other]) {
    expect([home, temporary, files]).toEqual([folder, folder, []]);
    expect(existsSync(folder)).toBe(false);
  }
  expect(one[0]).not.toBe(other[0]);
});
