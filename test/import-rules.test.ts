import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { expect, onTestFinished, test } from 'vitest';
import { MAY_IMPORT, rules } from './import-rules.ts';

const folders = Object.keys(MAY_IMPORT).filter((name) => !name.endsWith('.ts'));

/** What breaks the rules below a folder: `rule: from → to`, and why. */
async function violations(paths: string[], baseDir: string): Promise<string[]> {
  const { output } = await cruise(paths, {
    baseDir,
    ruleSet: rules,
    validate: true,
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  });
  const reasons = new Map(rules.forbidden?.map(({ name, comment }) => [name, comment]));
  return (output as ICruiseResult).summary.violations.map(
    ({ rule, from, to }) => `${rule.name}: ${from} → ${to}. ${reasons.get(rule.name)}`,
  );
}

test('every import keeps to the rules', async () => {
  const root = join(import.meta.dirname, '..');
  expect(await violations(['src', 'client/src', 'console/src', 'test/contract'], root)).toEqual([]);
}, 60_000);

test('in each folder a planted import of each other folder fails, unless the list has it', async () => {
  const tree = mkdtempSync(join(tmpdir(), 'dbvitals-imports-'));
  onTestFinished(() => rmSync(tree, { recursive: true }));
  const all = [...folders, 'a-new-folder'];
  for (const name of all) {
    mkdirSync(join(tree, 'src', name), { recursive: true });
    writeFileSync(join(tree, 'src', name, 'thing.ts'), 'export interface Thing { name: string }\n');
    const others = all.filter((other) => other !== name);
    const imports = others.map((other, at) => `import type { Thing as T${at} } from '../${other}/thing.ts';`);
    writeFileSync(join(tree, 'src', name, 'planted.ts'), `${imports.join('\n')}\nexport type All = T0;\n`);
  }
  const found = await violations(['src'], tree);
  for (const name of folders) {
    const failed = all.filter((other) =>
      found.some((line) => line.startsWith(`${name}: src/${name}/planted.ts → src/${other}/thing.ts. `)),
    );
    expect(failed, name).toEqual(all.filter((other) => other !== name && !MAY_IMPORT[name]?.includes(other)));
    expect(
      found.some((line) => line.startsWith(`new-folder: src/${name}/planted.ts → src/a-new-folder/`)),
    ).toBe(true);
  }
  expect(found.some((line) => line.startsWith('new-folder-imports: src/a-new-folder/planted.ts'))).toBe(true);
}, 60_000);
