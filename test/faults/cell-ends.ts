import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startTwoCells } from '../cells/two-cells.ts';
import { runJson, startService } from '../contract/running-service.ts';
import type { TestStore } from '../support/store.ts';
import { type Extent, type Fault, Seen } from './fault.ts';
import { judge } from './judge.ts';
import { type Answer, type Load, quantile, startLoad } from './load.ts';
import { UNLIMITED } from './stage.ts';
import { LONGEST_ANSWER_MS, served } from './store-ends.ts';

/** How long a cell stays down, in milliseconds. */
const DOWN_MS = 2_000;

/** kill -9 of the PostgreSQL of one of two cells. */
export const killCell: Fault = {
  fault: "kill -9 of one cell's PostgreSQL",
  figure:
    '10 times: missing 0; its accounts get 500 within 2 s; no failure and p99 at most doubled for others',
  provoke: (extent: Extent) => killAgain(extent === 'short' ? 3 : 10),
};

async function killAgain(times: number): Promise<Seen> {
  const cells = await startTwoCells();
  const environment = { ...cells.environment, DBVITALS_SECRET_KEY: randomBytes(32).toString('hex') };
  const service = await startService(environment, ['--no-monitor']);
  const loads: Load[] = [];
  try {
    for (const cell of ['1', '2']) {
      const named = ['--name', `Cell ${cell}`, '--plan', 'enterprise', '--cell', cell, ...UNLIMITED];
      const { id } = await runJson<{ id: number }>(['account', 'create', ...named], environment);
      const made = ['key', 'create', '--account', `${id}`, '--name', 'faults'];
      const { key } = await runJson<{ key: string }>(made, environment);
      loads.push(startLoad(key, () => service.origin, { width: 12, pauseMs: 2 }));
    }
    const [other, dying] = loads;
    if (!other || !dying) throw new Error('no load');
    await Promise.all(loads.map((load) => served(load, performance.now(), 100)));
    // As long as all outages together, while nothing fails.
    const quietFrom = performance.now();
    await wait(times * DOWN_MS);
    const quiet = between(other, quietFrom, performance.now());
    const during: Answer[] = [];
    let failed = 0;
    for (let time = 0; time < times; time += 1) {
      const ended = performance.now();
      process.kill(postmaster(cells.second), 'SIGKILL');
      await wait(DOWN_MS);
      during.push(...between(other, ended, performance.now()));
      failed += between(dying, ended, performance.now()).filter(({ status }) => status === 500).length;
      await startAgain(cells.second);
      await served(dying, performance.now(), 50);
    }
    await Promise.all(loads.map((load) => load.stop()));
    const judged = [
      await judge(query(cells.first), other.answers),
      await judge(query(cells.second), dying.answers),
    ];
    const sum = (of: keyof (typeof judged)[number]) => judged.reduce((all, one) => all + one[of], 0);
    const p99 = (answers: readonly Answer[]) =>
      quantile(
        answers.map(({ ms }) => ms),
        0.99,
      );
    return new Seen()
      .none(sum('missing'), `in ${times} times and ${dying.answers.length} answers of the cell missing`)
      .none(sum('twice'), 'duplicates')
      .none(sum('outOfOrder'), 'out of order')
      .atLeast(failed, times, '500s')
      .none(dying.odd.length, 'other than 200 and 500')
      .atMost(slowest(dying), LONGEST_ANSWER_MS / 1_000, 'slowest answer', ' s')
      .none(
        other.answers.filter(({ status }) => status !== 200).length,
        `of ${during.length} answers of the other cell failed`,
      )
      .none(other.broken + dying.broken, 'broken off')
      .atMost(
        p99(during) / p99(quiet),
        2,
        `its p99 ${p99(quiet).toFixed(0)} ms became ${p99(during).toFixed(0)} ms,`,
        ' times',
      );
  } finally {
    await Promise.all(loads.map((load) => load.stop()));
    await service.stop();
    await cells.stop();
  }
}

function postmaster({ address: [{ host } = {}] }: TestStore): number {
  return Number(readFileSync(join(String(host), 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** A killed server's processes and shared memory need a moment to go. */
async function startAgain(store: TestStore): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await store.start();
    } catch (error) {
      if (tries === 20) throw error;
      await wait(200);
    }
  }
}

function query(store: TestStore): Parameters<typeof judge>[0] {
  return {
    async query(text, values = []) {
      const root = await store.superuser('store');
      return (await root.query(text, values)).rows;
    },
  };
}

function between({ answers }: Load, from: number, to: number): Answer[] {
  return answers.filter(({ started }) => started >= from && started < to);
}

function slowest({ answers }: Load): number {
  return answers.reduce((most, { ms }) => Math.max(most, ms), 0) / 1_000;
}
