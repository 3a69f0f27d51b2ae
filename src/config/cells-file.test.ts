import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCellsFile } from './cells-file.ts';
import { readConfig } from './config.ts';
import { ConfigError } from './config-error.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dbvitals-cells-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function written(text: string): string {
  const path = join(folder, 'cells.yaml');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function problemsOf(text: string): readonly string[] {
  try {
    readCellsFile(written(text));
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    return [error instanceof Error ? error.message : ''];
  }
}

test('names the cells and the control store', () => {
  const file = written(`
cells:
  - id: 1
    url: postgres://u:p@one/d
  - id: 7
    url: postgres://u:p@seven,seven-b:5433/d
    pooler_url: postgres://u:p@pool:6432/d
    accepts_new: no
control_url: postgres://u:p@control/d
`);
  expect(readCellsFile(file)).toEqual({
    cells: [
      { id: 1, url: 'postgres://u:p@one/d', poolerUrl: null, acceptsNew: true },
      {
        id: 7,
        url: 'postgres://u:p@seven,seven-b:5433/d',
        acceptsNew: false,
        poolerUrl: 'postgres://u:p@pool:6432/d',
      },
    ],
    controlUrl: 'postgres://u:p@control/d',
    path: file,
  });
});

test('the control store is the first cell by default, and by its URL', () => {
  const one = '{ id: 1, url: "postgres://u:p@one/d", accepts_new: true }';
  expect(readCellsFile(written(`cells: [${one}]`)).controlUrl).toBeNull();
  expect(readCellsFile(written(`cells: [${one}]\ncontrol_url: postgres://u:p@one/d`)).controlUrl).toBeNull();
});

test('a later cell can not be the control store', () => {
  const cells = `cells: [{ id: 1, url: "postgres://u:p@one/d" }, { id: 2, url: "postgres://u:p@two/d" }]`;
  expect(problemsOf(`${cells}\ncontrol_url: postgres://u:p@two/d`)).toEqual([
    'DBVITALS_CELLS_FILE: control_url is the url of cell 2: list that cell first, or name another database.',
  ]);
});

test('every mistake is reported at once, and no value is repeated', () => {
  const problems = problemsOf(`
cells:
  - id: 0
    url: hunter2
  - id: 2
    url: postgres://u:hunter2@one/d
    pooler_url: hunter2
    accepts_new: hunter2
    password: hunter2
  - id: 2
    url: postgres://u:hunter2@one/d
  - hunter2
control_url: 5
region: hunter2
`);
  expect(problems).toEqual([
    'DBVITALS_CELLS_FILE: region is not a field of it.',
    'DBVITALS_CELLS_FILE: entry 1 of cells: id must be a whole number from 1 to 255.',
    'DBVITALS_CELLS_FILE: entry 1 of cells: url must look like postgres://user:password@host:5432/database.',
    'DBVITALS_CELLS_FILE: cell 2: a cell has the fields id, url, pooler_url, accepts_new only.',
    'DBVITALS_CELLS_FILE: cell 2: accepts_new must be yes or no.',
    'DBVITALS_CELLS_FILE: cell 2: pooler_url must look like postgres://user:password@host:6432/database.',
    'DBVITALS_CELLS_FILE: entry 4 of cells: id must be a whole number from 1 to 255.',
    'DBVITALS_CELLS_FILE: entry 4 of cells: url must be a URL.',
    'DBVITALS_CELLS_FILE: cell 2: another cell has the same id.',
    'DBVITALS_CELLS_FILE: cell 2: another cell has the same url.',
    'DBVITALS_CELLS_FILE: control_url must be a URL.',
  ]);
  expect(problems.join('\n')).not.toContain('hunter2');
});

test.each(['', 'hunter2', '[1]', 'cells: [', 'cells: &a [*a]', '{"cells": {}}'])('%j is refused', (text) => {
  const problems = problemsOf(text);
  expect(problems.length).toBeGreaterThan(0);
  expect(problems.join()).toMatch(/^DBVITALS_CELLS_FILE/);
  expect(problems.join()).not.toContain('hunter2');
});

test('a file that others can read or write is refused, and one that does not exist', () => {
  const path = written('cells: [{ id: 1, url: "postgres://u:p@one/d" }]');
  for (const mode of [0o644, 0o660, 0o602]) {
    chmodSync(path, mode);
    expect(() => readCellsFile(path)).toThrow(
      'other users can read or write the file, which contains passwords',
    );
  }
  chmodSync(path, 0o640);
  expect(readCellsFile(path).cells).toHaveLength(1);
  expect(() => readCellsFile(join(folder, 'absent'))).toThrow(
    'DBVITALS_CELLS_FILE cannot be read (ENOENT): name a readable file.',
  );
});

test('the file replaces DATABASE_URL, and also needs a secret key', () => {
  const DBVITALS_CELLS_FILE = written('cells: [{ id: 1, url: "postgres://u:p@one/d" }]');
  const given = { DBVITALS_CELLS_FILE, DBVITALS_SECRET_KEY: '0123456789abcdef'.repeat(4) };
  expect(readConfig(given)).toMatchObject({ databaseUrl: null, cells: { controlUrl: null } });
  const problems = (environment: Record<string, string>) => {
    try {
      readConfig(environment);
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
    }
    return [];
  };
  expect(problems({ ...given, DATABASE_URL: 'postgres://u:p@one/d' })).toEqual([
    'Set DBVITALS_CELLS_FILE, or DATABASE_URL and DBVITALS_POOLER_URL, not both.',
  ]);
  expect(problems({ DBVITALS_CELLS_FILE })).toEqual([
    'DBVITALS_CELLS_FILE also needs DBVITALS_SECRET_KEY or DBVITALS_SECRET_KEY_FILE: create a key with "openssl rand -hex 32".',
  ]);
});
