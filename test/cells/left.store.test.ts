import { afterAll, beforeAll, expect, test } from 'vitest';
import { command, commandJson } from '../contract/command.ts';
import { type Service, startService } from '../contract/running-service.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { addAccount, type CellAccount } from './cell-accounts.ts';
import { startTwoCells, type TwoCells } from './two-cells.ts';

let control: TestStore;
let cells: TwoCells;
/** It knows keys from before their accounts moved, and asks nothing while they move. */
let service: Service;

beforeAll(async () => {
  control = await startTestStore();
  cells = await startTwoCells(control);
  service = await startService(cells.environment, ['--no-monitor']);
});

afterAll(async () => {
  await service.stop();
  await cells.stop();
  await control.stop();
});

async function ask({ key }: CellAccount, path = '/health/fleet'): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${service.origin}/api/v1${path}`, { headers });
  await answer.text();
  return answer.status;
}

/** An account of cell 1 that the service has served there. */
async function addServed(): Promise<CellAccount> {
  const account = await addAccount(cells.environment, 1);
  expect(await ask(account)).toBe(200);
  return account;
}

const moveCommand = ({ id }: CellAccount, ...options: string[]) =>
  commandJson(['account', 'move', String(id), ...options], { environment: cells.environment });

test.each([
  ['whose answer is cached', '/health/fleet'],
  ['whose answer is not cached', '/health/connections?per_page=7'],
  ['whose answer is never cached', '/activity'],
])('after the old copy is forgotten, a request %s is answered by the new cell', async (_, path) => {
  const account = await addServed();
  await moveCommand(account, '--to', '2');
  await moveCommand(account, '--forget');
  expect(await ask(account, path)).toBe(200);
  expect(service.output()).not.toMatch(/can't be read/);
});

test('an account that moved away is served while its old cell is down, and those that live there get 500', async () => {
  const [left, read, stayed] = [await addServed(), await addServed(), await addServed()];
  await moveCommand(left, '--to', '2');
  await moveCommand(read, '--to', '2');
  await cells.first.halt();
  try {
    // A request that fails at the gate may be recorded there, so only the next one goes to the new cell.
    await expect.poll(() => ask(left)).toBe(200);
    expect(await ask(left)).toBe(200);
    expect(await ask(read, '/health/connections?per_page=7')).toBe(200);
    for (let n = 0; n < 3; n += 1) {
      expect(await ask(stayed)).toBe(500);
      expect(await ask(stayed, `/health/connections?per_page=${n + 1}`)).toBe(500);
    }
    await control.halt();
    try {
      expect(await ask(stayed)).toBe(500);
      expect(await ask(left)).toBe(200);
    } finally {
      await control.start();
    }
  } finally {
    await cells.first.start();
  }
  await expect.poll(() => ask(stayed)).toBe(200);
});

test('while a cell is down, commands find what lives in another one, and say what they could not reach', async () => {
  const { environment } = cells;
  const [left, stayed] = [await addServed(), await addServed()];
  const there = await addAccount(environment, 2);
  await moveCommand(left, '--to', '2');
  await cells.first.halt();
  try {
    for (const { keyId } of [there, left])
      expect((await command(['key', 'revoke', String(keyId)], { environment })).stderr).not.toMatch(/error/);
    for (const account of [there, left]) await expect.poll(() => ask(account)).toBe(401);
    const refused = await command(['key', 'revoke', String(stayed.keyId)], { environment });
    expect(refused.exit).toBe(1);
    expect(refused.stderr).toMatch(/^error: Cell 1 can't be opened: /);
    // Of the two cells, the one that is down has fewer accounts.
    await control.writer.query(
      `insert into directory_account (account_id, cell_id) select n, 2 from generate_series(1000001, 1000100) n`,
    );
    const added = await commandJson<{ id: number }>(
      ['account', 'create', '--name', 'new', '--plan', 'team'],
      { environment },
    );
    expect(added.id).toBeGreaterThan(2 ** 44);
  } finally {
    await cells.first.start();
  }
});
