import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Stage {
  part: string;
  how: string;
  name: string;
  command: string;
}

const stages: Stage[] = JSON.parse(read('test/release/stages.json'));
const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts;

// Run by another: test:unit by npm test, test:roots by what installs for the stages. test:release runs the stages.
const NO_STAGES = ['test:unit', 'test:roots', 'test:repeat', 'test:release'];

/** The parts that run a script, each once. */
function partsOf(script: string): string[] {
  const runs = new RegExp(`npm run ${script}(?![\\w:-])`);
  return [...new Set(stages.filter(({ command }) => runs.test(command)).map(({ part }) => part))];
}

test.each(Object.keys(scripts).filter((name) => name.startsWith('test:') && !NO_STAGES.includes(name)))(
  '%s runs in the gate or in exactly one part',
  (script) => {
    const parts = partsOf(script).filter((part) => part !== 'gate');
    expect(parts.length).toBeLessThanOrEqual(1);
    expect(partsOf(script)).not.toEqual([]);
  },
);

test('the gate begins with the test command of the README', () => {
  expect(stages[0]).toMatchObject({ part: 'gate', how: 'alone', command: 'npm ci && npm test' });
  expect(read('README.md')).toContain('npm ci && npm test');
});

test('the gate has lint, types, unused code, advisories and the smoke test of a release', () => {
  const gate = stages.filter(({ part }) => part === 'gate').map(({ command }) => command);
  for (const command of [
    'npm run lint',
    'npm run types',
    'npm run unused',
    'advisories.sh',
    'release-smoke.sh',
  ])
    expect(
      gate.filter((each) => each.includes(command)),
      command,
    ).toHaveLength(1);
});

test('each stage has a name of its own, a known part and a known way to run', () => {
  expect(new Set(stages.map(({ name }) => name)).size).toBe(stages.length);
  for (const { part, how } of stages) {
    expect(['gate', 'a', 'b', 'c', 'd', 'e']).toContain(part);
    expect(['alone', 'core', 'waits']).toContain(how);
  }
  expect(new Set(stages.map(({ part }) => part)).size).toBe(6);
});

test('.ci/run and test:release read the same stages', () => {
  expect(read('.ci/run')).toContain('node test/release/run.mjs "$@"');
  expect(scripts['test:release']).toBe('.ci/run --release');
});
