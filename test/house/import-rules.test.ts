import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { circles, programImports, violations } from './import-rules.ts';
import { areaOf, MAY_IMPORT, ROOMS, roomOf } from './rooms.ts';

const ROOT = join(import.meta.dirname, '../..');
const folders = ROOMS.filter((name) => !name.endsWith('.ts'));
const imports = programImports(ROOT);

/** Pairs of rooms in which a file of the first imports one of the second: `from → to`. */
const used = new Set(
  [...imports].flatMap(([from, others]) => others.map((to) => `${roomOf(from)} → ${roomOf(to)}`)),
);

test('every import follows the rules', () => {
  expect(violations(ROOT, ['src', 'client/src', 'console/src', 'test/contract'])).toEqual([]);
});

test('every permission is used', () => {
  const allowed = Object.entries(MAY_IMPORT).flatMap(([room, others]) =>
    others.map((to) => `${room} → ${to}`),
  );
  expect(allowed.filter((pair) => !used.has(pair))).toEqual([]);
});

test('a room is listed above all that it imports, and the rooms of an area stand together', () => {
  const upward = Object.entries(MAY_IMPORT).flatMap(([room, others]) =>
    others.filter((other) => ROOMS.indexOf(other) <= ROOMS.indexOf(room)).map((to) => `${room} → ${to}`),
  );
  expect(upward).toEqual([]);
  const areas = ROOMS.map(areaOf).filter((area, at, all) => area !== all[at - 1]);
  expect(areas).toHaveLength(new Set(areas).size);
});

test('at most 30 % of the pairs of rooms are allowed', () => {
  const pairs = (ROOMS.length * (ROOMS.length - 1)) / 2;
  expect(Object.values(MAY_IMPORT).flat().length / pairs).toBeLessThanOrEqual(0.3);
});

test('no files import each other in a circle, not even types', () => {
  expect(circles(imports)).toEqual([]);
  expect(
    circles(
      new Map([
        ['a', ['b']],
        ['b', ['c']],
        ['c', ['a', 'd']],
        ['d', []],
      ]),
    ),
  ).toEqual([['a', 'b', 'c']]);
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

test('an import between any two rooms fails unless it is on the list', () => {
  const all = [...folders, 'a-new-folder'];
  const planted = (name: string) =>
    all
      .filter((other) => other !== name)
      .map(
        (other) => `import type { Thing } from './${relative(`src/${name}`, `src/${other}/thing.ts`)}';\n`,
      );
  const root = plant(
    Object.fromEntries(all.map((name) => [`src/${name}/planted.ts`, planted(name).join('')])),
  );
  const found = violations(root, ['src']);
  const refused = new Set(found.map((line) => line.slice(0, line.indexOf(': '))));
  for (const name of folders) {
    const failed = all.filter((other) => refused.has(`src/${name}/planted.ts → src/${other}/thing.ts`));
    expect(failed, name).toEqual(all.filter((other) => other !== name && !MAY_IMPORT[name]?.includes(other)));
  }
  const fromNew = found.filter((line) => line.startsWith('src/a-new-folder/planted.ts'));
  expect(fromNew).toHaveLength(folders.length);
  expect(fromNew[0]).toContain('a-new-folder is a new folder of src/');
});

test.each([
  [
    'an endpoint that records',
    'src/api/endpoints/tickets.ts',
    "import { recordFindings } from './record-findings.ts'",
  ],
  ['src/ that needs the client', 'src/http/answer.ts', "import '../../client/src/index.ts'"],
  ['a program that needs a fixture', 'src/tickets/plan-tickets.ts', "import './tickets-fixture.ts'"],
  ['a check that needs the other engine', 'src/checks/mysql/a.ts', "import '../postgres/retype.ts'"],
  ['a client that needs Node', 'client/src/index.ts', "import { readFileSync } from 'node:fs'"],
  ['a client that needs the service', 'client/src/index.ts', "export * from '../../src/http/errors.ts'"],
  ['a browser that needs the store', 'console/src/main.tsx', "import '../../src/store/connect.ts'"],
  ['a part that knows a page', 'console/src/parts/table.tsx', "import('../pages/keys/keys.tsx')"],
  ['a chart that knows a page', 'console/src/measures/measure-chart.tsx', "import '../pages/keys/keys.tsx'"],
  ['a page that knows another', 'console/src/pages/keys/keys.tsx', "import '../team/team.tsx'"],
  [
    'a contract test that looks inside',
    'test/contract/a.test.ts',
    "type Gate = import('../../src/api/gate/admit.ts').Gate",
  ],
])('%s fails', (_, path, text) => {
  const root = plant({ [path]: `${text};\n` });
  expect(violations(root, [path.split('/')[0] ?? ''])).toHaveLength(1);
});
