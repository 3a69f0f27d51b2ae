import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { serverPrograms, stopServer } from '../../src/store/server.ts';
import { serverUser, spawnAsServer } from '../../src/store/server-user.ts';
import { needPackages } from '../clients/debian.ts';
import type { Service } from '../contract/running-service.ts';
import { type Extent, type Fault, Seen } from './fault.ts';
import { judge } from './judge.ts';
import { type Answer, FLEET, get } from './load.ts';
import { onStage } from './stage.ts';

/** The environment that changes a program's clock (libfaketime's syntax) but not its timers. */
function otherClock(words: string): Record<string, string> {
  needPackages('libfaketime');
  const { stdout } = spawnSync('dpkg', ['-L', 'libfaketime'], { encoding: 'utf8' });
  const [library] = /^.*\/libfaketimeMT\.so\.1$/m.exec(stdout) ?? [];
  if (library === undefined)
    throw new Error('libfaketime has no libfaketimeMT.so.1: install it from Debian.');
  return { LD_PRELOAD: library, FAKETIME: words, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

/** One instance's clock is two minutes late, one early. A key's window depends only on the store's clock. */
export const wrongClock: Fault = {
  fault: 'clock of one instance 2 min off',
  figure: 'over-admitted 0',
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const [limit, keys] = [50, extent === 'short' ? 4 : 12];
      const late = await stage.instance(otherClock('-120s'));
      const early = await stage.instance(otherClock('+120s'));
      const seen = new Seen();
      for (const [name, { origin }, seconds] of [
        ['late', late, -120],
        ['early', early, 120],
      ] as const) {
        const { headers } = await get(origin + FLEET, stage.key);
        const off = (Date.parse(headers.date ?? '') - Date.now()) / 1_000;
        seen.holds(`the ${name} one's Date is ${Math.round(off)} s off`, Math.abs(off - seconds) < 5);
      }
      const answers: Answer[] = [];
      let [over, under] = [0, 0];
      for (let key = 0; key < keys; key += 1) {
        const account = await stage.account('--requests-per-minute', `${limit}`);
        const asked = await askAll([stage.service, late, early], account.key, limit * 6);
        const admitted = asked.filter(({ status }) => status === 200).length;
        over += Math.max(admitted - limit, 0);
        under += Math.max(limit - admitted, 0);
        answers.push(...asked);
      }
      const { missing, twice, outOfOrder } = await judge(stage, answers);
      return seen
        .none(over, `${keys} windows of three instances at 6 times the limit: over-admitted`)
        .none(under, 'refused under the limit')
        .none(answers.filter(({ status }) => status !== 200 && status !== 429).length, 'other answers')
        .none(missing + twice + outOfOrder, 'missing, duplicates or out of order');
    }),
};

async function askAll(services: readonly Service[], key: string, count: number): Promise<Answer[]> {
  const asked = Array.from({ length: count }, (_, n) => services[n % services.length]?.origin ?? '');
  return Promise.all(asked.map((origin) => get(origin + FLEET, key)));
}

// The speed of the store's clock: a window of 60 s lasts 3 s.
const SPEED = 20;

/** Windows end and begin under load, because only the store's clock runs fast. */
export const manyWindows: Fault = {
  fault: '4 instances, one key at 10 times its limit, 50 windows',
  figure: 'admitted = limit exactly',
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const [limit, wanted] = [30, extent === 'short' ? 15 : 50];
      const { key } = await stage.account('--requests-per-minute', `${limit}`);
      await stage.service.stop(); // its store goes with it
      const folders = { programs: serverPrograms(), data: stage.storeFolder };
      const store = spawnAsServer(
        serverUser(),
        folders,
        ({ programs, data }) => ({
          program: `${programs}/bin/postgres`,
          args: ['-D', data, '-c', 'listen_addresses=', '-c', 'unix_socket_directories=.'],
        }),
        { stdio: 'ignore', env: { ...process.env, ...otherClock(`+0 x${SPEED}`) } },
      );
      const ended = once(store, 'exit');
      const began = { store: await storeClock(stage.query), here: performance.now() };
      const services = [];
      for (let n = 0; n < 4; n += 1) services.push(await stage.instance());
      const answers: Answer[] = [];
      const end = performance.now() + ((wanted + 1.5) * 60_000) / SPEED;
      const pause = ((4 * 60_000) / SPEED / (10 * limit)) * 0.7;
      await Promise.all(
        services.map(async ({ origin }) => {
          while (performance.now() < end) {
            const asked = get(origin + FLEET, key).then((answer) => answers.push(answer));
            await Promise.all([asked, wait(pause)]);
          }
        }),
      );
      const speed =
        ((await storeClock(stage.query)) - began.store) / ((performance.now() - began.here) / 1_000);
      const judged = await judge(stage, answers);
      await Promise.all(services.map((service) => service.stop()));
      await stopServer(stage.storeFolder);
      await ended;
      return seenOf(answers, limit, wanted)
        .atLeast(speed, SPEED * 0.9, 'the store’s clock ran faster by')
        .none(judged.missing + judged.twice + judged.outOfOrder, 'missing, duplicates or out of order');
    }),
};

async function storeClock(query: (text: string) => Promise<{ now?: unknown }[]>): Promise<number> {
  for (let tries = 0; ; tries += 1) {
    try {
      const [row] = await query('select extract(epoch from clock_timestamp())::float8 as now');
      return Number(row?.now);
    } catch (error) {
      if (tries > 100) throw error;
      await wait(100);
    }
  }
}

/**
 * Windows are identified by their end; the last one is incomplete. A statement's timeout of two seconds is also on the
 * store's clock, so it is a tenth of a second here. Requests that time out on a busy machine get 500 and are not counted.
 */
function seenOf(answers: readonly Answer[], limit: number, wanted: number): Seen {
  const judged = answers.filter(({ status }) => status === 200 || status === 429);
  const windows = Map.groupBy(judged, ({ headers }) => Number(headers['x-ratelimit-reset']));
  const whole = [...windows.keys()].toSorted((a, b) => a - b).slice(0, -1);
  let [wrong, least] = [0, Number.POSITIVE_INFINITY];
  for (const reset of whole) {
    const asked = windows.get(reset) ?? [];
    least = Math.min(least, asked.length / limit);
    const left = asked.flatMap(({ status, headers }) =>
      status === 200 ? [Number(headers['x-ratelimit-remaining'])] : [],
    );
    const exact = left.toSorted((a, b) => a - b).every((remaining, n) => remaining === n);
    if (left.length !== limit || !exact) wrong += 1;
  }
  return new Seen()
    .atLeast(whole.length, wanted, 'windows')
    .none(wrong, 'windows that did not admit exactly the limit')
    .atLeast(least, 3, 'fewest requests in a window, in limits')
    .atMost(
      answers.length - judged.length,
      answers.length / 100,
      `of ${answers.length} answers other than 200 and 429`,
    );
}
