import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command, commandJson } from '../contract/command.ts';
import { fixtureJson } from '../contract/fixture-command.ts';
import { type Service, startService } from '../contract/running-service.ts';
import { startTestStore } from '../support/store.ts';
import { addAccount, type CellAccount } from './cell-accounts.ts';
import { startTwoCells, type TwoCells, urlOf } from './two-cells.ts';

const BASE = 2 ** 44;

let cells: TwoCells;
let service: Service;
/** An account in each cell, with a key. */
const accounts: CellAccount[] = [];

beforeAll(async () => {
  cells = await startTwoCells();
  service = await startService({ ...cells.environment, METRICS_PORT: '0' }, ['--no-monitor']);
  for (const cell of [1, 2]) accounts.push(await addAccount(cells.environment, cell));
});

afterAll(async () => {
  await service.stop();
  await cells.stop();
});

async function ask(key: string | undefined, path = '/api/v1/health/fleet', origin = service.origin) {
  const answer = await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } });
  const id = answer.headers.get('x-request-id');
  return { status: answer.status, id, body: await answer.text() };
}

const entry = async (store: TwoCells['first'], id: string | null) => {
  const { rows } = await store.writer.query('select account_id, status from activity where request_id = $1', [
    id,
  ]);
  return rows;
};

test('an account lives in the cell that was named, with identifiers of that cell', () => {
  const [one, two] = accounts;
  expect(one?.id).toBeLessThan(BASE);
  expect(two?.id).toBe(BASE + 1);
  expect(two?.keyId).toBe(BASE + 1);
});

test('each key is answered by its cell, which alone has the entry', async () => {
  const [one, two] = accounts;
  const [ofOne, ofTwo] = [await ask(one?.key), await ask(two?.key)];
  expect([ofOne.status, ofTwo.status]).toEqual([200, 200]);
  expect(await entry(cells.first, ofOne.id)).toEqual([{ account_id: one?.id, status: 200 }]);
  expect(await entry(cells.second, ofOne.id)).toEqual([]);
  expect(await entry(cells.first, ofTwo.id)).toEqual([]);
  expect(await entry(cells.second, ofTwo.id)).toEqual([{ account_id: two?.id, status: 200 }]);
  expect((await ask(`dbv_live_${'0'.repeat(49)}`)).status).toBe(401);
});

test('account create chooses the emptiest cell that accepts accounts', async () => {
  const before = await commandJson<{ cell: number }[]>(['account', 'list'], {
    environment: cells.environment,
  });
  const counts = [1, 2].map((id) => before.filter(({ cell }) => cell === id).length);
  const emptiest = (counts[0] ?? 0) <= (counts[1] ?? 0) ? 1 : 2;
  const { id } = await commandJson<{ id: number }>(
    ['account', 'create', '--name', 'anywhere', '--plan', 'team'],
    { environment: cells.environment },
  );
  expect(Math.floor((id - 1) / BASE) + 1).toBe(emptiest);
});

test('commands find the cell of an account and of an id', async () => {
  const two = accounts[1];
  const environment = cells.environment;
  const listed = await commandJson<{ id: number }[]>(['key', 'list', '--account', String(two?.id)], {
    environment,
  });
  expect(listed.map(({ id }) => id)).toEqual([two?.keyId]);
  const extra = await commandJson<{ id: number; key: string }>(
    ['key', 'create', '--account', String(two?.id), '--name', 'to revoke'],
    { environment },
  );
  expect((await ask(extra.key)).status).toBe(200);
  await commandJson(['key', 'revoke', String(extra.id)], { environment });
  expect((await ask(extra.key)).status).toBe(401);
  const absent = await command(['key', 'revoke', '999'], { environment });
  expect(absent).toMatchObject({ exit: 1, stderr: 'error: There is no key 999.\n' });
  const noAccount = await command(['key', 'list', '--account', '999'], { environment });
  expect(noAccount).toMatchObject({ exit: 1, stderr: 'error: There is no account 999.\n' });
});

test('doctor compares the directory with each cell, and migrate adds what is missing', async () => {
  const environment = cells.environment;
  const doctor = async () => {
    const { stdout } = await command(['doctor', '--json'], { environment });
    const { diagnoses }: { diagnoses: { about: string; status: string; message: string }[] } =
      JSON.parse(stdout);
    return diagnoses;
  };
  const of = (all: { about: string; message: string }[], about: string) =>
    all.filter((one) => one.about === about).map(({ message }) => message);
  const whole = await doctor();
  expect(of(whole, 'directory')).toEqual([
    'The directory has every account and every valid key of the cells that answer.',
  ]);
  expect(
    of(whole, 'store').filter((message) => /^In cell [12]: PostgreSQL .* answers/.test(message)),
  ).toHaveLength(2);
  const root = await cells.first.superuser('store');
  const { rows: lost } = await root.query(
    `delete from directory_key where account_id = $1 returning hash, account_id`,
    [accounts[1]?.id],
  );
  expect(of(await doctor(), 'directory')).toEqual([
    `The directory lacks 1 valid key of cell 2: requests with these keys get a 401.`,
  ]);
  await commandJson(['migrate'], { environment });
  expect(of(await doctor(), 'directory')).toEqual(of(whole, 'directory'));
  expect(lost.length).toBeGreaterThan(0);
  expect(await commandJson(['migrate', '--plan'], { environment })).toEqual({ pending: [] });
});

test('a new cell without a schema is told to be migrated, and is no failed statement', async () => {
  const root = await cells.first.superuser();
  await root.query('create database fresh');
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-cells-'));
  const file = join(folder, 'fresh.yaml');
  const fresh = urlOf(cells.first).replace(/store$/, 'fresh');
  const named = [urlOf(cells.first), urlOf(cells.second), fresh].map((url, at) => ({ id: at + 1, url }));
  writeFileSync(file, JSON.stringify({ cells: named }), { mode: 0o600 });
  const environment = { ...cells.environment, DBVITALS_CELLS_FILE: file };
  for (const args of [['doctor'], ['account', 'list'], ['backup', join(folder, 'x'), '--cell', '3']]) {
    const { exit, stdout, stderr } = await command(args, { environment });
    expect(exit, stderr).toBe(args[0] === 'doctor' ? 0 : 1);
    expect(`${stdout}${stderr}`).toMatch(/[cC]ell 3/);
    expect(`${stdout}${stderr}`).not.toMatch(/relation|does not exist|undefined|DATABASE_URL/);
  }
  await root.query('drop database fresh');
  rmSync(folder, { recursive: true });
});

test("a cell's pooler that can't be used is named as that of the cell", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-cells-'));
  const file = join(folder, 'pooled.yaml');
  const pooler = urlOf(cells.second).replace(/store$/, 'absent');
  const named = [
    { id: 1, url: urlOf(cells.first) },
    { id: 2, url: urlOf(cells.second), pooler_url: pooler },
  ];
  writeFileSync(file, JSON.stringify({ cells: named }), { mode: 0o600 });
  const environment = { ...cells.environment, DBVITALS_CELLS_FILE: file };
  const { stdout } = await command(['doctor'], { environment });
  expect(stdout).toContain("The pooler_url of cell 2 in DBVITALS_CELLS_FILE can't be used: ");
  expect(stdout).not.toMatch(/DBVITALS_POOLER_URL|unspoken/);
  rmSync(folder, { recursive: true });
});

test('a cell is backed up and restored as that cell', async () => {
  const environment = cells.environment;
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-cells-'));
  const third = await startTestStore();
  try {
    const file = join(folder, 'two.backup');
    expect((await command(['backup', file], { environment })).stderr).toBe(
      'error: There are several cells: say which one with --cell.\n',
    );
    const made = await commandJson<{ store: string }>(['backup', file, '--cell', '2'], { environment });
    expect(made.store).toMatch(/^PostgreSQL .* of cell 2$/);
    const cellsFile = join(folder, 'cells.yaml');
    writeFileSync(cellsFile, JSON.stringify({ cells: [{ id: 2, url: urlOf(third) }] }), { mode: 0o600 });
    const elsewhere = { ...environment, DBVITALS_CELLS_FILE: cellsFile };
    await commandJson(['restore', file], { environment: elsewhere });
    expect((await command(['restore', file, '--cell', '2'], { environment: elsewhere })).stderr).toMatch(
      /^error: In cell 2: The store holds data already/,
    );
    const listed = await commandJson<{ id: number }[]>(['account', 'list'], { environment: elsewhere });
    expect(listed.map(({ id }) => id)).toContain(accounts[1]?.id);
    // Identifiers go on in that cell.
    const { id } = await commandJson<{ id: number }>(
      ['account', 'create', '--name', 'later', '--plan', 'team'],
      { environment: elsewhere },
    );
    expect(id).toBeGreaterThan(BASE + 1);
  } finally {
    await third.stop();
    rmSync(folder, { recursive: true });
  }
});

test('secrets, seals and accounts are handled cell by cell', async () => {
  const environment = cells.environment;
  const { accounts: of, destinations } = {
    accounts: await commandJson<{ id: number; cell: number }[]>(['account', 'list'], { environment }),
    destinations: await commandJson<unknown[]>(['destination', 'enable', '--all', '--missed', 'skip'], {
      environment,
    }),
  };
  expect(new Set(of.map(({ cell }) => cell))).toEqual(new Set([1, 2]));
  expect(destinations).toEqual([]);
  expect(await commandJson(['secret', 'rotate'], { environment })).toMatchObject({ forgotten: 0 });
  // The service's own round may have come first.
  await commandJson(['activity', 'seal'], { environment });
  for (const { writer } of [cells.first, cells.second]) {
    const { rows } = await writer.query('select count(*) as seals from activity_seal');
    expect(rows[0].seals).toBeGreaterThan(0);
  }
  const verdict = ['activity', 'verify', '--account', String(accounts[1]?.id)];
  expect(await commandJson(verdict, { environment })).toMatchObject({ verified: true });
});

test('a store that is a cell is not opened alone', async () => {
  const { DBVITALS_SECRET_KEY = '' } = cells.environment;
  const DATABASE_URL = urlOf(cells.second);
  const { exit, stderr } = await command(['account', 'list'], {
    environment: { DATABASE_URL, DBVITALS_SECRET_KEY },
  });
  expect(exit).toBe(1);
  expect(stderr).toMatch(/^error: This store is cell 2 of several: set DBVITALS_CELLS_FILE /);
});

test('a directory that names the wrong cell, account or key gives 401 or 500, and no data', async () => {
  const [one, two] = accounts;
  const issue = (account: number | undefined) =>
    fixtureJson<{ id: number; key: string }>(
      ['key', 'create', '--account', String(account), '--name', 'attacked'],
      cells.environment,
    );
  // The directory's rows are altered before the service sees the keys.
  const [wrongCell, wrongAccount] = [await issue(two?.id), await issue(two?.id)];
  const root = await cells.first.superuser('store');
  await root.query(`update directory_key set account_id = $1 where hash = sha256(convert_to($2, 'UTF8'))`, [
    one?.id,
    wrongCell.key,
  ]);
  expect((await ask(wrongCell.key)).status).toBe(401);
  // The other cell's owner copies the row of the key, for an account of its own choice.
  const copy = await cells.first.account();
  await root.query('insert into directory_account values ($1, 2)', [copy]);
  await root.query(`update directory_key set account_id = $1 where hash = sha256(convert_to($2, 'UTF8'))`, [
    copy,
    wrongAccount.key,
  ]);
  expect((await ask(wrongAccount.key)).status).toBe(500);
  await root.query('delete from directory_account where account_id = $1', [copy]);
  expect((await ask(wrongAccount.key)).status).toBe(401);
});

test('while an account is being moved its keys get 500, in every process at once, and nothing is counted', async () => {
  const two = accounts[1];
  const move = async (isHere: boolean, state: string) => {
    await cells.first.writer.query('update directory_account set state = $2 where account_id = $1', [
      two?.id,
      state,
    ]);
    await cells.second.writer.query('update account set is_here = $2 where account_id = $1', [
      two?.id,
      isHere,
    ]);
    await cells.second.writer.query('update api_key set version = version + 1 where account_id = $1', [
      two?.id,
    ]);
  };
  expect((await ask(two?.key)).status).toBe(200);
  await move(false, 'moving');
  const { rows: before } = await cells.second.writer.query(
    'select last_id from activity_head where account_id = $1',
    [two?.id],
  );
  for (let n = 0; n < 3; n += 1) expect((await ask(two?.key)).status).toBe(500);
  const { rows: after } = await cells.second.writer.query(
    'select last_id from activity_head where account_id = $1',
    [two?.id],
  );
  expect(after).toEqual(before);
  const refused = await command(['key', 'list', '--account', String(two?.id)], {
    environment: cells.environment,
  });
  expect(refused.stderr).toMatch(/is being moved to another cell/);
  await move(true, 'here');
  expect((await ask(two?.key)).status).toBe(200);
});

test('while a cell is down its accounts get 500, others are answered, and the service is ready', async () => {
  const [one, two] = accounts;
  const [okay] = await Promise.all([ask(one?.key), ask(two?.key)]);
  expect(okay.status).toBe(200);
  await cells.second.halt();
  const started = performance.now();
  const down = await ask(two?.key);
  expect(down.status).toBe(500);
  expect(performance.now() - started).toBeLessThan(30_000);
  expect((await ask(one?.key)).status).toBe(200);
  expect((await fetch(`${service.origin}/readyz`)).status).toBe(200);
  // A new process starts without it, and serves it once it is back.
  const late = await startService(cells.environment, ['--no-monitor']);
  try {
    expect((await ask(one?.key, undefined, late.origin)).status).toBe(200);
    expect((await ask(two?.key, undefined, late.origin)).status).toBe(500);
    await cells.second.start();
    await expect.poll(async () => (await ask(two?.key, undefined, late.origin)).status).toBe(200);
    await expect.poll(async () => (await ask(two?.key)).status).toBe(200);
  } finally {
    await late.stop();
  }
});

test('while the directory is down known keys of other cells work, and an unknown key gets 500', async () => {
  const two = accounts[1];
  expect((await ask(two?.key)).status).toBe(200);
  await cells.first.halt();
  try {
    expect((await ask(two?.key)).status).toBe(200);
    expect((await ask(`dbv_live_${'1'.repeat(43)}`)).status).toBe(401); // no key by its checksum
    const { generateKey } = await import('../../src/platform/api-key.ts');
    expect((await ask(generateKey())).status).toBe(500);
  } finally {
    await cells.first.start();
  }
  await expect.poll(async () => (await ask(accounts[0]?.key)).status).toBe(200);
});
