import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CONNECTION_TYPES } from './connection-types.ts';
import { ENGINES } from './engines.ts';
import { ENDPOINT_GROUPS, PLANS } from './plans.ts';
import { ROLE_IDS } from './role-permissions.ts';
import { FLEET_STATUSES } from './score-bands.ts';
import { FINDING_STATUSES, SEVERITIES } from './severities.ts';
import { TLS_MODES } from './tls-modes.ts';

const lists = {
  CONNECTION_TYPES,
  ENDPOINT_GROUPS,
  ENGINES,
  FINDING_STATUSES,
  FLEET_STATUSES,
  PLANS,
  ROLE_IDS,
  SEVERITIES,
  TLS_MODES,
};

const root = join(import.meta.dirname, '../..');
const files = globSync('{src,console/src}/**/*.{ts,tsx}', { cwd: root }).filter(
  (file) => !/(?:\.test|-fixture)\.tsx?$|^src\/vocabulary\//.test(file),
);

/** The lists and unions of strings in a source file: `'a', 'b'` and `'a' | 'b'` are both `a,b`. */
function spelled(source: string): string[] {
  const text = /'[\w-]+'/.source;
  return [...source.matchAll(new RegExp(`${text}(?:\\s*[,|]\\s*${text})+`, 'g'))].map(([found]) =>
    found.replaceAll(/\s*[,|]\s*/g, ',').replaceAll("'", ''),
  );
}

test.each(Object.entries(lists))('only vocabulary/ lists %s', (_, list) => {
  const own = [list.join(','), list.toReversed().join(',')];
  const again = files.filter((file) =>
    spelled(readFileSync(join(root, file), 'utf8')).some((one) => own.some((values) => one.includes(values))),
  );
  expect(again).toEqual([]);
});

test('no SQL statement repeats the score bands', () => {
  const again = files.filter((file) => /score\s*>=\s*\d/.test(readFileSync(join(root, file), 'utf8')));
  expect(again).toEqual([]);
});
