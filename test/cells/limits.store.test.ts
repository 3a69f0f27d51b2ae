import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, ask, each } from '../contract/ask.ts';
import { commandJson } from '../contract/command.ts';
import { type Service, startService } from '../contract/running-service.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { addAccount, type CellAccount } from './cell-accounts.ts';
import { startTwoCells, type TwoCells } from './two-cells.ts';

const LIMIT = 40;

let cells: TwoCells;
/** Two services on both cells. */
const services: Service[] = [];

beforeAll(async () => {
  cells = await startTwoCells();
  for (let n = 0; n < 2; n += 1) services.push(await startService(cells.environment, ['--no-monitor']));
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await cells.stop();
});

/** An account in each cell, with a limit of {@link LIMIT} requests per minute and key. */
async function addLimited(): Promise<[CellAccount, CellAccount]> {
  const { environment } = cells;
  const accounts: [CellAccount, CellAccount] = [
    await addAccount(environment, 1),
    await addAccount(environment, 2),
  ];
  for (const { id } of accounts)
    await commandJson(['account', 'change', String(id), '--requests-per-minute', String(LIMIT)], {
      environment,
    });
  return accounts;
}

/** Asks the services by turns. */
const askTurn = (turn: number, { key }: CellAccount): Promise<Answer> =>
  ask('/api/v1/health/fleet', { origin: services[turn % 2]?.origin ?? '', key });

const withStatus = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status);
const remaining = (answers: readonly Answer[]) =>
  answers.map(({ headers }) => Number(headers['x-ratelimit-remaining'])).toSorted((a, b) => a - b);
const resetOf = ({ headers }: Answer) => headers['x-ratelimit-reset'] ?? '';

/** The numbers from 0 below `end`. */
const upTo = (end: number) => Array.from({ length: end }, (_, n) => n);

/** Expects that the log of an account, in its cell alone, is gapless and has each answer exactly once. */
async function expectWholeLog(home: 1 | 2, { id }: CellAccount, answers: readonly Answer[]): Promise<void> {
  const [here, elsewhere] = home === 1 ? [cells.first, cells.second] : [cells.second, cells.first];
  const { rows } = await here.writer.query<{ id: number; action_type: string; told: string }>(
    `select id, action_type, request_id || ' ' || status as told from activity where account_id = $1 order by id`,
    [id],
  );
  expect(rows.map((row) => row.id)).toEqual(rows.map((_, at) => at + 1));
  const { rows: heads } = await here.writer.query('select last_id from activity_head where account_id = $1', [
    id,
  ]);
  expect(heads).toEqual([{ last_id: rows.length }]);
  const requests = rows.filter(({ action_type }) => action_type === 'api_request').map(({ told }) => told);
  const answered = answers.map(({ headers, status }) => `${headers['x-request-id']} ${status}`);
  expect(requests.toSorted()).toEqual(answered.toSorted());
  const strange = await elsewhere.writer.query(
    'select from activity where account_id = $1 or request_id = any($2)',
    [id, answers.map(({ headers }) => headers['x-request-id'])],
  );
  expect(strange.rowCount).toBe(0);
}

test('through two services, a key of each cell gets exactly its limit, and its cell logs every answer once', async () => {
  const accounts = await addLimited();
  const answers: [Answer[], Answer[]] = [[], []];
  await each(upTo(400), 64, async (turn) => {
    const at = turn % 4 < 2 ? 0 : 1;
    answers[at].push(await askTurn(turn, accounts[at]));
  });
  for (const at of [0, 1] as const) {
    const admitted = withStatus(answers[at], 200);
    expect(remaining(admitted)).toEqual(upTo(LIMIT));
    expect(withStatus(answers[at], 429)).toHaveLength(200 - LIMIT);
    expect(new Set(answers[at].map(resetOf)).size).toBe(1);
    await expectWholeLog(at === 0 ? 1 : 2, accounts[at], answers[at]);
  }
});

test('over the edge of a minute, each window of each cell admits exactly its limit', async () => {
  const accounts = await addLimited();
  const answers: [Answer[], Answer[]] = [[], []];
  for (const at of [0, 1] as const) {
    answers[at].push(await askTurn(at, accounts[at]));
    const { writer } = at === 0 ? cells.first : cells.second;
    const moved = await writer.query(
      `update key_window set started_at = started_at - interval '50 s' where account_id = $1`,
      [accounts[at].id],
    );
    expect(moved.rowCount).toBe(1);
  }
  const windowsOf = (at: 0 | 1) => Object.values(Object.groupBy(answers[at].slice(1), resetOf));
  const isOver = (at: 0 | 1) =>
    windowsOf(at).length === 2 && windowsOf(at).every((window = []) => withStatus(window, 429).length > 0);
  const until = performance.now() + PATIENCE_MS / 2;
  await Promise.all(
    upTo(16).map(async (loop) => {
      const at = loop % 4 < 2 ? 0 : 1;
      while (!(isOver(0) && isOver(1)) && performance.now() < until) {
        answers[at].push(await askTurn(loop, accounts[at]));
        await wait(15);
      }
    }),
  );
  for (const at of [0, 1] as const) {
    const [first, ...others] = answers[at];
    const windows = Object.groupBy(others, resetOf);
    expect(Object.keys(windows)).toHaveLength(2);
    const [before = [], after = []] = Object.keys(windows)
      .toSorted()
      .map((reset) => windows[reset] ?? []);
    // The answer that began the first window.
    expect(remaining(withStatus([...(first ? [first] : []), ...before], 200))).toEqual(upTo(LIMIT));
    expect(remaining(withStatus(after, 200))).toEqual(upTo(LIMIT));
    for (const window of [before, after]) expect(withStatus(window, 429).length).toBeGreaterThan(0);
    expect(withStatus(others, 200).length + withStatus(others, 429).length).toBe(others.length);
    await expectWholeLog(at === 0 ? 1 : 2, accounts[at], answers[at]);
  }
});
