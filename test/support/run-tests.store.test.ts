import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SUPPORT = JSON.stringify(import.meta.dirname);

let folder: string;
const place = (name: string, text: string) => writeFileSync(join(folder, name), text);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dbvitals-run-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  place(
    'vitest.config.ts',
    `export default { test: { include: ['*.test.ts'], reporters: [${SUPPORT} + '/report.ts'] } };`,
  );
  place('other.test.ts', `import { test } from 'vitest'; test('other', () => {});`);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A file whose test passes at this attempt. Its second test passes only after the first, as where tests share a server. */
function placePassingAt(attempt: number, name: string): void {
  place(
    `${name}.test.ts`,
    `import { appendFileSync, readFileSync } from 'node:fs';
    import { expect, test } from 'vitest';
    let isMade = false;
    test('first', () => { expect(isMade).toBe(false); isMade = true; });
    test('second', () => {
      appendFileSync('${name}.attempts', '.');
      expect(isMade).toBe(true);
      expect(readFileSync('${name}.attempts', 'utf8').length).toBeGreaterThanOrEqual(${attempt});
    });`,
  );
}

function run(program: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, program), ...args],
    {
      cwd: folder,
      env: {
        ...process.env,
        NO_COLOR: '1',
        PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`,
      },
      encoding: 'utf8',
    },
  );
  return { status, output: stdout + stderr };
}

test('what failed once runs again as a whole file, alone, and the output says so', () => {
  placePassingAt(2, 'one');
  const { status, output } = run('run-tests.ts', 'one', 'other');
  expect(output).toMatch(
    /Test Files {2}1 failed \| 1 passed[\s\S]*^Second attempt, with new servers: one\.test\.ts$/m,
  );
  expect(output).toMatch(
    /Test Files {2}1 passed \(1\)[\s\S]*^Passed only at the second attempt: one\.test\.ts\. /m,
  );
  expect(status).toBe(0);
});

test('what fails twice is red', () => {
  placePassingAt(3, 'one');
  const { status, output } = run('run-tests.ts');
  expect(output).toMatch(/^Failed twice: one\.test\.ts\. /m);
  expect(status).toBe(1);
});

test('what failed in more than three files is no chance: there is no second attempt', () => {
  for (const name of ['a', 'b', 'c', 'd']) placePassingAt(2, name);
  const { status, output } = run('run-tests.ts');
  expect(output).not.toContain('Second attempt');
  expect(status).toBe(1);
});

test('an error outside of a test gets no second attempt', () => {
  placePassingAt(2, 'one');
  place(
    'other.test.ts',
    `import { test } from 'vitest';
    test('other', async () => {
      setImmediate(() => { throw new Error('outside'); });
      await new Promise((resolve) => setTimeout(resolve, 50));
    });`,
  );
  const { status, output } = run('run-tests.ts');
  expect(output).not.toContain('Second attempt');
  expect(status).toBe(1);
});

test('test:repeat counts the runs that passed, and makes no second attempt', () => {
  placePassingAt(2, 'one');
  expect(run('repeat.ts', 'one.test.ts', '2')).toMatchObject({
    status: 1,
    output: expect.stringMatching(/^one\.test\.ts: 1 of 2 runs passed\.$/m),
  });
  expect(run('repeat.ts', 'one.test.ts', '2')).toMatchObject({
    status: 0,
    output: expect.stringMatching(/^one\.test\.ts: 2 of 2 runs passed\.$/m),
  });
});
