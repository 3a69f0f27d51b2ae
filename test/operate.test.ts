import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService, temporaryFolder } from './contract/running-service.ts';

// As an operator comes by them: in one folder, beside a service that runs there. `install` is run by `npm run test:package`.
const PAGES = ['provision', 'scale', 'backup', 'upgrade', 'restore', 'monitor', 'tune', 'secure'];

const root = join(import.meta.dirname, '..');
const pages = join(root, 'docs/operate');
const folder = temporaryFolder();
const place = (...names: string[]) => join(folder.path, ...names);
let service: Service;

beforeAll(async () => {
  for (const name of ['bin', 'home', 'work']) mkdirSync(place(name));
  chmodSync(place('work'), 0o711);
  // The command as it is installed, on this checkout.
  writeFileSync(
    place('bin', 'dbvitals'),
    `#!/bin/sh\nexec "${process.execPath}" "${root}/src/main.ts" "$@"\n`,
  );
  chmodSync(place('bin', 'dbvitals'), 0o755);
  service = await startService({ DBVITALS_DATA_DIR: place('work', '.dbvitals') }, ['--no-monitor']);
});

afterAll(async () => {
  await service?.stop();
  folder.remove();
});

test('every page is here', () => {
  const names = readdirSync(pages).map((name) => name.replace('.md', ''));
  expect(names.toSorted()).toEqual([...PAGES, 'install'].toSorted());
});

test.each(PAGES)('the commands of %s.md do what they say', async (name) => {
  const text = readFileSync(join(pages, `${name}.md`), 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  expect(blocks).not.toEqual([]);
  const { port } = new URL(service.origin);
  for (const block of blocks) {
    const script = block.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
    await promisify(execFile)('sh', ['-ec', script], {
      cwd: place('work'),
      env: {
        PATH: `${place('bin')}:${process.env['PATH']}`,
        HOME: place('home'),
        PORT: '0',
        LOG_LEVEL: 'warn',
      },
      timeout: 60_000,
    });
  }
});
