import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from './fault.ts';
import { judge } from './judge.ts';
import { onStage } from './stage.ts';

/** Repeated kill -9 of the service. A client keeps sending requests to the current one. */
export const killServer: Fault = {
  fault: 'kill -9 of the server under load',
  figure: '20 kills, 10,000 answers and more: missing 0, duplicates 0',
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const [kills, wanted] = extent === 'short' ? [5, 1_000] : [20, 10_000];
      const load = stage.load({ width: 16, pauseMs: 0 });
      for (let kill = 1; kill <= kills; kill += 1) {
        const enough = (wanted * kill) / kills;
        while (load.answers.length < enough) await wait(10);
        await wait(37 * (kill % 7)); // at a varying point of a batch
        await stage.service.stop('SIGKILL');
        await stage.restart();
      }
      await wait(300);
      await load.stop();
      const { missing, twice, outOfOrder } = await judge(stage, load.answers);
      return new Seen()
        .atLeast(kills, kills, 'kills')
        .atLeast(load.answers.length, wanted, 'answers')
        .atLeast(load.broken, kills, 'broken off')
        .none(missing, 'missing')
        .none(twice, 'duplicates')
        .none(outOfOrder, 'out of order')
        .none(load.odd.length, 'other than 200 and 500');
    }),
};

/** SIGTERM: every recorded request must have been answered. */
export const terminate: Fault = {
  fault: 'SIGTERM under load',
  figure: '0 dropped in-flight requests; done within 10 s',
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const times = extent === 'short' ? 2 : 5;
      let [dropped, slowest, broken, answers] = [0, 0, 0, 0];
      const exits = new Set<number | null>();
      for (let time = 0; time < times; time += 1) {
        const service = await stage.instance();
        const load = stage.load({ origin: () => service.origin, width: 32, pauseMs: 0 });
        while (load.answers.length < 1_000) await wait(10);
        const told = performance.now();
        exits.add(await service.stop('SIGTERM'));
        slowest = Math.max(slowest, (performance.now() - told) / 1_000);
        await load.stop();
        const answered = load.answers.map(({ id }) => id);
        const rows = await stage.query(
          `select from activity where account_id = $1 and request_id is not null and request_id <> all($2::uuid[])
              and id > $3`,
          [stage.id, answered, await before(load.answers.map(({ id }) => id))],
        );
        dropped += rows.length;
        broken += load.odd.length;
        answers += answered.length;
      }
      /** The last entry before this round. */
      async function before(ids: string[]): Promise<number> {
        const text = 'select min(id)::int - 1 as id from activity where request_id = any($1::uuid[])';
        const [row] = await stage.query<{ id: number }>(text, [ids]);
        return row?.id ?? 0;
      }
      return new Seen()
        .none(dropped, `in ${times} ends and ${answers} answers recorded but not answered:`)
        .none(broken, 'other than 200 and 500')
        .atMost(slowest, 10, 'slowest end', ' s')
        .holds('exit code 0 each time', exits.size === 1 && exits.has(0));
    }),
};
