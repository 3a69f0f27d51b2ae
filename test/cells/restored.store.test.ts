import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { command, commandJson } from '../contract/command.ts';
import { fixtureJson } from '../contract/fixture-command.ts';
import { type Environment, startService } from '../contract/running-service.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { addAccount } from './cell-accounts.ts';
import { startTwoCells, type TwoCells, urlOf } from './two-cells.ts';

let cells: TwoCells;
/** The control store. */
let control: TestStore;
/** An empty database for what is restored. */
let spare: TestStore;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dbvitals-cells-'));
  [control, spare] = await Promise.all([startTestStore(), startTestStore()]);
  cells = await startTwoCells(control);
  await commandJson(['migrate'], { environment: cells.environment });
});

afterEach(async () => {
  await cells.stop();
  await Promise.all([control.stop(), spare.stop()]);
  rmSync(folder, { recursive: true });
});

/** Settings with these stores as cell 1, cell 2 and control store. */
function settingsOf(stores: readonly [TestStore, TestStore, TestStore]): Environment {
  const [one, two, controlUrl] = stores.map(urlOf);
  const file = join(folder, 'cells.yaml');
  const named = [
    { id: 1, url: one },
    { id: 2, url: two },
  ];
  writeFileSync(file, JSON.stringify({ cells: named, control_url: controlUrl }), { mode: 0o600 });
  return { ...cells.environment, DBVITALS_CELLS_FILE: file };
}

async function directoryOf(environment: Environment): Promise<{ message: string; remedy: string | null }[]> {
  const { stdout } = await command(['doctor', '--json'], { environment });
  const { diagnoses } = JSON.parse(stdout) as {
    diagnoses: { about: string; message: string; remedy: string | null }[];
  };
  return diagnoses
    .filter(({ about }) => about === 'directory')
    .map(({ message, remedy }) => ({ message, remedy }));
}

const WHOLE = [
  { message: 'The directory has every account and every valid key of the cells that answer.', remedy: null },
];

test('a control store restored from a backup older than a move is corrected by migrate', async () => {
  const { environment, first, second } = cells;
  const moved = await addAccount(environment, 1);
  const file = join(folder, 'control.backup');
  await commandJson(['backup', file, '--cell', 'control'], { environment });
  await commandJson(['account', 'move', String(moved.id), '--to', '2'], { environment });
  const later = await fixtureJson<{ key: string }>(
    ['key', 'create', '--account', String(moved.id), '--name', 'later'],
    environment,
  );
  const added = await addAccount(environment, 2);

  const restored = settingsOf([first, second, spare]);
  await commandJson(['restore', file, '--cell', 'control'], { environment: restored });
  expect(await directoryOf(restored)).toEqual([
    {
      message: `The directory does not lead to 2 accounts of cell 2, such as account ${moved.id} (it says cell 1): requests of these accounts get a 401 or a 500.`,
      remedy: 'Run "dbvitals migrate", which corrects the directory once all cells answer.',
    },
  ]);
  await commandJson(['migrate'], { environment: restored });
  expect(await directoryOf(restored)).toEqual(WHOLE);
  const service = await startService(restored, ['--no-monitor']);
  try {
    for (const key of [moved.key, later.key, added.key]) {
      const headers = { authorization: `Bearer ${key}` };
      expect((await fetch(`${service.origin}/api/v1/health/fleet`, { headers })).status).toBe(200);
    }
  } finally {
    await service.stop();
  }
}, 240_000);

test('cells share a backup folder, and a backup goes back only into its own cell', async () => {
  const { environment, first, second } = cells;
  await addAccount(environment, 1);
  await addAccount(environment, 2);
  const backups = join(folder, 'backups');
  const backUp = (cell: string) =>
    commandJson<{ file: string; removed: string[] }>(
      ['backup', '--folder', backups, '--keep', '1', '--cell', cell],
      { environment },
    );
  const [one] = await Promise.all([backUp('1'), backUp('2'), backUp('control')]);
  expect(await backUp('1')).toMatchObject({ removed: [basename(one.file)] });
  const kinds = readdirSync(backups).map((name) => name.replace(/-[0-9a-f]{16}-\d{8}T\d{9}Z/, ''));
  expect(kinds.toSorted()).toEqual([
    'dbvitals-cell-1.backup',
    'dbvitals-cell-2.backup',
    'dbvitals-control.backup',
  ]);

  const all = ['backup', '--all-cells', '--folder', backups, '--keep', '1'];
  const { made, failed } = await commandJson<{ made: { removed: string[] }[]; failed: string[] }>(all, {
    environment,
  });
  expect(made.map(({ removed }) => removed.length)).toEqual([1, 1, 1]);
  expect(failed).toEqual([]);
  expect(readdirSync(backups)).toHaveLength(3);
  const { file: twoFile } = await backUp('2');

  const restored = settingsOf([spare, second, control]);
  const refused = await command(['restore', twoFile, '--cell', '1'], { environment: restored });
  expect(refused).toMatchObject({ exit: 1, stdout: '' });
  expect(refused.stderr).toBe(
    'error: This is a backup of cell 2, and nothing was changed: use --cell 2, or name a backup of cell 1.\n',
  );
  expect((await spare.writer.query('select from cell union all select from account')).rowCount).toBe(0);
  const alone = { DATABASE_URL: urlOf(spare), DBVITALS_SECRET_KEY: environment['DBVITALS_SECRET_KEY'] ?? '' };
  expect((await command(['restore', twoFile], { environment: alone })).stderr).toMatch(
    /^error: This is a backup of cell 2, and nothing was changed: name the stores in DBVITALS_CELLS_FILE, and use --cell 2\.\n$/,
  );
  expect(await commandJson(['backup', 'verify', twoFile], { environment: alone })).toMatchObject({
    cell: 2,
    signed: true,
  });
  // The store that is named as cell 2 is cell 1.
  const swapped = settingsOf([second, first, control]);
  expect(
    (await command(['backup', join(folder, 'x'), '--cell', '2'], { environment: swapped })).stderr,
  ).toMatch(/names the store of cell 1 as cell 2/);
}, 240_000);

test('an account that a restored cell brings back is named, and stays where it lives', async () => {
  const { environment, second } = cells;
  const { id } = await addAccount(environment, 1);
  const file = join(folder, 'one.backup');
  await commandJson(['backup', file, '--cell', '1'], { environment });
  await commandJson(['account', 'move', String(id), '--to', '2'], { environment });
  await addAccount(environment, 2);
  const lost = await addAccount(environment, 1);

  const restored = settingsOf([spare, second, control]);
  await commandJson(['restore', file, '--cell', '1'], { environment: restored });
  const ends = await Promise.all(
    [spare, second].map(async ({ writer }) => {
      const { rows } = await writer.query('select last_id from activity_head where account_id = $1', [id]);
      return rows[0].last_id;
    }),
  );
  const twice = [
    {
      message: `Account ${id} is in cell 1 (its log ends at entry ${ends[0]}) and cell 2 (its log ends at entry ${ends[1]}), as after the restore of a backup that is older than its move. The directory says cell 2.`,
      remedy: `If cell 2 has the account's latest rows, run "dbvitals account move ${id} --forget", which removes the other copy. If cell 1 has them, first run this as the owner of the control store: update directory_account set cell_id = 1, state = 'here' where account_id = ${id}`,
    },
  ];
  expect(await directoryOf(restored)).toEqual(twice);
  await expect(addAccount(restored, 1)).rejects.toThrow(
    `Cell 1 was restored from a backup that is older than account ${lost.id}, and nothing was changed: run "dbvitals migrate", then try again.`,
  );
  await commandJson(['migrate'], { environment: restored });
  expect(await directoryOf(restored)).toEqual(twice);
  expect((await addAccount(restored, 1)).id).toBeGreaterThan(lost.id);
  await commandJson(['account', 'move', String(id), '--forget'], { environment: restored });
  expect(await directoryOf(restored)).toEqual(WHOLE);
}, 240_000);

const UNNAMED =
  'DBVITALS_CELLS_FILE does not name cell 2, where an account lives: add it, or first move them with "account move ID --to CELL".';

test('a cell with accounts is missed when it is down, and cannot be left out of the file', async () => {
  const { environment, first, second } = cells;
  const [one, two] = [await addAccount(environment, 1), await addAccount(environment, 2)];
  const without = join(folder, 'without.yaml');
  const text = { cells: [{ id: 1, url: urlOf(first) }], control_url: urlOf(control) };
  writeFileSync(without, JSON.stringify(text), { mode: 0o600 });
  const lacking = { ...environment, DBVITALS_CELLS_FILE: without };
  // As an older version leaves its store: nothing may be migrated before the file was judged.
  const migrations = await control.superuser('store');
  const newest = 'delete from migration where name = (select max(name) from migration) returning *';
  const [last] = (await migrations.query(newest)).rows;
  for (const args of [['migrate'], ['migrate', '--plan'], ['serve']]) {
    expect(await command(args, { environment: { ...lacking, PORT: '0', LOG_LEVEL: 'warn' } })).toEqual({
      exit: 1,
      stdout: '',
      stderr: `error: ${UNNAMED}\n`,
    });
  }
  expect((await migrations.query('select from migration where name = $1', [last.name])).rowCount).toBe(0);
  await migrations.query('insert into migration (name, run_on) values ($1, $2)', [last.name, last.run_on]);
  for (const args of [
    ['activity', 'seal'],
    ['secret', 'rotate'],
  ]) {
    const refused = await command(args, { environment: lacking });
    expect([refused.exit, refused.stderr], args.join(' ')).toEqual([1, expect.stringContaining(UNNAMED)]);
  }
  const backups = join(folder, 'some');
  const some = await command(['backup', '--all-cells', '--folder', backups, '--json'], {
    environment: lacking,
  });
  expect(some.exit).toBe(1);
  expect(JSON.parse(some.stdout)).toMatchObject({ made: [{}, {}], failed: [UNNAMED] });
  const { stdout: diagnosed } = await command(['doctor', '--json'], { environment: lacking });
  expect(diagnosed).toContain(JSON.stringify(UNNAMED));
  await second.halt();
  const listed = await command(['account', 'list', '--json'], { environment });
  await second.start();
  expect(listed.exit).toBe(1);
  expect(JSON.parse(listed.stdout).map(({ id }: { id: number }) => id)).toEqual([one.id]);
  expect(listed.stderr).toMatch(
    new RegExp(
      `^error: Cell 2 can't be opened: .*DBVITALS_CELLS_FILE.*; its accounts are not listed: ${two.id}\\.\\n$`,
    ),
  );
  expect(listed.stderr).not.toContain('DATABASE_URL');
}, 240_000);
