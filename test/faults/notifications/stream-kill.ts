import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from '../fault.ts';
import { onStreamStage } from './stream-stage.ts';

const PATH = '/siem';

/** Repeated kill -9 of the service while it sends a log stream, under load. */
export const streamKill: Fault = {
  fault: 'kill -9 of the service amid a log stream, under load',
  figure:
    '20 kills, 100,000 entries: the receiver has every id; duplicates have the same text; ranges adjoin',
  provoke: (extent: Extent) =>
    onStreamStage(async (stage) => {
      const [kills, written] = extent === 'short' ? [3, 6_000] : [20, 100_000];
      await stage.write(written);
      const load = stage.load({ width: 2, pauseMs: 20 });
      await stage.stream(PATH);
      const { times } = stage.receiver.of(PATH);
      for (let kill = 1; kill <= kills; kill += 1) {
        await stage.reaches(PATH, Math.floor((written * kill) / (kills + 1)), 60);
        await wait(17 * (kill % 5)); // at a varying point of a batch
        await stage.service.stop('SIGKILL');
        await stage.restart();
        // What a killed service had leased goes out 90 s later. So that each kill finds a batch under way, that time is over at once.
        await stage.query('update log_stream set due_at = now()');
      }
      await load.stop();
      const last = await stage.newest();
      const isWhole = await stage.reaches(PATH, last, 120);
      const all = Array.from({ length: last }, (_, at) => at + 1);
      const missing = all.filter((id) => !times.has(id)).length;
      const { altered, disordered } = stage.receiver.of(PATH);
      const again = [...times.values()].reduce((sum, count) => sum + count - 1, 0);
      return new Seen()
        .atLeast(kills, kills, 'kills')
        .atLeast(last, written, 'entries')
        .atLeast(load.answers.length, kills, 'answers under load')
        .holds('caught up within 120 s', isWhole)
        .none(missing, 'ids missing')
        .none(times.size - last, 'ids that the log has not')
        .none(altered, 'batches again with another text')
        .none(disordered, 'batches out of order')
        .atMost(again, kills * 500, 'entries more than once');
    }),
};
