import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { MAY_IMPORT, violations } from './import-rules.ts';

const folders = Object.keys(MAY_IMPORT).filter((name) => !name.endsWith('.ts'));

test('every import follows the rules', () => {
  const root = join(import.meta.dirname, '..');
  expect(violations(root, ['src', 'client/src', 'console/src', 'test/contract'])).toEqual([]);
});

/** Writes files by path into a new folder and returns the folder. */
function plant(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'dbvitals-imports-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

test('an import between any two folders fails unless it is on the list', () => {
  const all = [...folders, 'a-new-folder'];
  const planted = (name: string) =>
    all
      .filter((other) => other !== name)
      .map((other) => `import type { Thing } from '../${other}/thing.ts';\n`);
  const root = plant(
    Object.fromEntries(all.map((name) => [`src/${name}/planted.ts`, planted(name).join('')])),
  );
  const found = violations(root, ['src']);
  for (const name of folders) {
    const failed = all.filter((other) =>
      found.some((line) => line.startsWith(`src/${name}/planted.ts → src/${other}/thing.ts: `)),
    );
    expect(failed, name).toEqual(all.filter((other) => other !== name && !MAY_IMPORT[name]?.includes(other)));
  }
  const fromNew = found.filter((line) => line.startsWith('src/a-new-folder/planted.ts'));
  expect(fromNew).toHaveLength(folders.length);
  expect(fromNew[0]).toContain('a-new-folder is a new folder of src/');
});

test.each([
  ['an endpoint that records', 'src/ops/tickets.ts', "import { recordFindings } from './record-findings.ts'"],
  ['src/ that needs the client', 'src/http/answer.ts', "import '../../client/src/index.ts'"],
  ['a program that needs a fixture', 'src/ops/stats.ts', "import './tickets-fixture.ts'"],
  ['a client that needs Node', 'client/src/index.ts', "import { readFileSync } from 'node:fs'"],
  ['a client that needs the service', 'client/src/index.ts', "export * from '../../src/http/errors.ts'"],
  ['a browser that needs the store', 'console/src/main.tsx', "import '../../src/database/connect.ts'"],
  ['a part that knows a page', 'console/src/parts/table.tsx', "import('../pages/keys/keys.tsx')"],
  ['a chart that knows a page', 'console/src/measures/measure-chart.tsx', "import '../pages/keys/keys.tsx'"],
  ['a page that knows another', 'console/src/pages/keys/keys.tsx', "import '../team/team.tsx'"],
  [
    'a contract test that looks inside',
    'test/contract/a.test.ts',
    "type Gate = import('../../src/gate/admit.ts').Gate",
  ],
])('%s fails', (_, path, text) => {
  const root = plant({ [path]: `${text};\n` });
  expect(violations(root, [path.split('/')[0] ?? ''])).toHaveLength(1);
});
