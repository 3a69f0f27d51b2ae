import { resetAt, stages } from '../contract/resets.ts';
import { type Extent, type Fault, Seen } from './fault.ts';
import { FLEET, get } from './load.ts';
import { onStage } from './stage.ts';

const AT_ONCE = 50;

/** Clients reset connections before and after headers, while the store answers, and within bodies and answers. */
export const resets: Fault = {
  fault: 'resets at every stage of a request',
  figure: '10,000 connections: the process lives on; errors counted',
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const { origin, ended } = stage.service;
      let isRunning = true;
      void ended.then(() => {
        isRunning = false;
      });
      const all = Object.values(stages(stage.key));
      const count = extent === 'short' ? 1_000 : 10_000;
      const left = Array.from({ length: count }, (_, n) => n).values();
      const port = Number(new URL(origin).port);
      const loops = Array.from({ length: AT_ONCE }, async () => {
        for (const n of left) {
          const one = all[n % all.length];
          if (one) await resetAt(one, port);
        }
      });
      await Promise.all(loops);
      const { status } = await get(origin + FLEET, stage.key);
      return new Seen()
        .atLeast(all.length, 20, 'stages')
        .holds(`${count} connections reset, and the process lives on`, isRunning)
        .holds('serves on', status === 200)
        .none(stage.service.output().split('escaped').length - 1, 'errors that escaped a request')
        .none(stage.service.output().split('unhandled error').length - 1, 'unhandled errors');
    }),
};
