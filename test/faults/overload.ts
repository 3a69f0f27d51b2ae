import { type Extent, type Fault, Seen } from './fault.ts';
import { ask, during, flood } from './flooded.ts';
import { FLEET, quantile } from './load.ts';
import { onStage, type Stage, UNLIMITED } from './stage.ts';

/** The most requests of a key that a process works on at a time, and more than three times as many. */
const [FULL, TOO_MANY] = [1_000, 3_500];

// Opening 3,500 connections takes 0.2 to 0.3 s, once: in a second of load that is the p99, so the short form holds it to a bound.
const SHORT_MS = 1_000;

/** One key uses more connections than the service can answer. Others' latency is compared with that at full load. */
export const overload: Fault = {
  fault: 'one key asks on 3,500 connections at once',
  figure: "all answered, none with 500; others' latency at most double that of a service at its limit",
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const greedy = await stage.account(...UNLIMITED);
      await ask(stage.service.origin + FLEET, stage.key, during(1));
      const short = extent === 'short';
      const count = short ? 20_000 : 40_000;
      const full = await beside(stage, greedy.key, count, FULL);
      const over = await beside(stage, greedy.key, count, TOO_MANY);
      const { 200: answered = 0, 429: _limited, ...others } = over.statuses;
      return new Seen()
        .atLeast(answered, 1_000, 'answered')
        .none(Object.keys(others).length, 'statuses other than 200 and 429')
        .none(over.took.filter(Number.isNaN).length, `of ${over.took.length} of others failed`)
        .atMost(over.p50, 2 * full.p50, `their median ${Math.round(full.p50)} ms →`, ' ms')
        .atMost(over.p99, short ? SHORT_MS : 2 * full.p99, `p99 ${Math.round(full.p99)} ms →`, ' ms');
    }),
};

async function beside(stage: Stage, key: string, count: number, connections: number) {
  let going = true;
  const flooding = flood(stage.service, count, connections, 1, key).finally(() => {
    going = false;
  });
  const took = await ask(stage.service.origin + FLEET, stage.key, () => going);
  const statuses = await flooding;
  return { took, statuses, p50: quantile(took, 0.5), p99: quantile(took, 0.99) };
}
