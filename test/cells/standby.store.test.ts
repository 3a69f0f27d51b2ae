import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../contract/browser.ts';
import { command } from '../contract/command.ts';
import { fixtureJson } from '../contract/fixture-command.ts';
import { type Process, startProcess, startService } from '../contract/running-service.ts';
import type { TestStore } from '../support/store.ts';
import { addAccount, addMember, type CellAccount } from './cell-accounts.ts';
import { startTwoCells, type TwoCells, urlOf } from './two-cells.ts';

const PASSWORD = 'seven quiet otters near the harbour';
const STANDBY = /This host of the store is a standby: add the primary to the URL, or promote this host\./;

let cells: TwoCells;
/** An account in each cell. */
let one: CellAccount;
let two: CellAccount;
const processes: Process[] = [];

beforeAll(async () => {
  cells = await startTwoCells();
  await fixtureJson(['migrate'], cells.environment);
  one = await addAccount(cells.environment, 1);
  two = await addAccount(cells.environment, 2);
});

afterEach(async () => {
  await Promise.all(processes.splice(0).map((process) => process.stop()));
});

afterAll(() => cells.stop());

/** Restarts a store as a standby, as a failover leaves it between the loss of the primary and the promotion. */
async function demote(store: TestStore): Promise<void> {
  await store.halt();
  const [{ host = '' } = {}] = store.address;
  const signal = join(host, 'standby.signal');
  writeFileSync(signal, '', { mode: 0o600 });
  const { uid, gid } = statSync(host);
  chownSync(signal, uid, gid);
  await store.start();
}

async function promote(store: TestStore): Promise<void> {
  const root = await store.superuser();
  await root.query('select pg_promote()');
}

async function ask(origin: string, { key }: CellAccount): Promise<number> {
  const answer = await fetch(`${origin}/api/v1/health/fleet`, {
    headers: { authorization: `Bearer ${key}` },
  });
  await answer.text();
  return answer.status;
}

/** What a process logged as errors with such a message. */
function errorsOf(process: Process, message: RegExp): { msg: string; reason: string; cell?: number }[] {
  return process
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{"level":50,'))
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => message.test(msg));
}

const NOT_OPENED = /^the cell can't be opened: /;

test("while only a standby of a cell answers, the other cell's accounts notice nothing, and the log has one line", async () => {
  const service = await startService(cells.environment, ['--no-monitor']);
  processes.push(service);
  const { origin } = service;
  const email = 'ada@example.com';
  const { linkToken } = await addMember(cells.environment, one.id, { email, role: 'owner' });
  const page = openBrowser({ origin });
  await page.change('POST', `/link/${linkToken}`, { password: PASSWORD });
  const { linkToken: later } = await addMember(cells.environment, one.id, { email: 'bo@example.com' });
  expect([await ask(origin, one), await ask(origin, two)]).toEqual([200, 200]);

  await demote(cells.second);
  try {
    for (let n = 0; n < 5; n += 1)
      expect([await ask(origin, one), await ask(origin, two)]).toEqual([200, 500]);
    expect(await page.get('/me')).toMatchObject({ account: { id: one.id }, accounts: [{ id: one.id }] });
    const other = openBrowser({ origin });
    await other.change('POST', `/link/${later}`, { password: PASSWORD });
    await page.change('POST', '/sign-out');
    await page.change('POST', '/sign-in', { email, password: PASSWORD });
    expect(errorsOf(service, /request/)).toMatchObject([
      { cell: 2, msg: 'the store fails: requests are answered 500' },
    ]);
  } finally {
    await promote(cells.second);
  }
  await expect.poll(() => ask(origin, two)).toBe(200);
});

test('a service and a monitor start without a cell of which only a standby answers, and use it once it is promoted', async () => {
  await demote(cells.second);
  const service = await startService(cells.environment, ['--no-monitor']);
  const monitor = startProcess(['monitor'], cells.environment);
  processes.push(service, monitor);
  try {
    const begun = /^(?=.*"cell":1,).*the monitor runs health checks that are due/m;
    await monitor.says(begun);
    expect([await ask(service.origin, one), await ask(service.origin, two)]).toEqual([200, 500]);
    for (const process of [service, monitor])
      expect(errorsOf(process, NOT_OPENED)).toMatchObject([
        { cell: 2, reason: expect.stringMatching(STANDBY) },
      ]);
    // Where it is the only store, the sentence is all that there is to say.
    const { DBVITALS_SECRET_KEY = '' } = cells.environment;
    const environment = { DATABASE_URL: urlOf(cells.second), DBVITALS_SECRET_KEY };
    const alone = await command(['account', 'list'], { environment });
    expect(alone).toMatchObject({ exit: 1, stderr: expect.stringMatching(STANDBY) });
  } finally {
    await promote(cells.second);
  }
  await monitor.says(/^(?=.*"cell":2,).*the monitor runs health checks that are due/m);
  await expect.poll(() => ask(service.origin, two)).toBe(200);
});

test('a cell that comes back as another one stays closed, and its error is logged once', async () => {
  await cells.second.halt();
  const service = await startService(cells.environment, ['--no-monitor']);
  const monitor = startProcess(['monitor'], cells.environment);
  processes.push(service, monitor);
  for (const process of [service, monitor]) await process.says(/the cell can't be opened/);
  await cells.second.start();
  const root = await cells.second.superuser('store');
  await root.query('update cell set cell_id = 3');
  try {
    const wrong = /DBVITALS_CELLS_FILE names the store of cell 3 as cell 2, and nothing was changed/;
    for (const process of [service, monitor]) await process.says(wrong);
    await wait(11_000); // two more tries
    for (const process of [service, monitor])
      expect(errorsOf(process, NOT_OPENED).map(({ reason }) => reason)).toEqual([
        expect.stringMatching(/ECONNREFUSED|ENOENT/),
        expect.stringMatching(wrong),
      ]);
    expect([await ask(service.origin, one), await ask(service.origin, two)]).toEqual([200, 500]);
  } finally {
    await root.query('update cell set cell_id = 2');
  }
  await expect.poll(() => ask(service.origin, two)).toBe(200);
});
