import { changeAccount } from '../src/activity/record-entry.ts';
import { measure, newConnection } from '../src/runs/measures/measures-fixture.ts';
import { prepareMeasures, storeMeasures } from '../src/runs/measures/store-measures.ts';
import { startTestStore } from '../test/support/store.ts';
import { median } from './median.ts';

// Measures how much longer a run holds the account's log because it stores its numbers: `node bench/store-hold.ts`.
// It is the time of the one statement in the run's transaction that is new.

const ROUNDS = 300;
const store = await startTestStore();
for (const series of [60, 300]) {
  const key = await newConnection(store);
  const numbers = Array.from({ length: series }, (_, n) =>
    measure('a_ratio', Math.random(), { object: `t${n}` }),
  );
  const prepared = await prepareMeasures(store.writer, key, numbers);
  const added: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await changeAccount(store.writer, key.accountId, async ({ client, at }) => {
      const began = performance.now();
      await storeMeasures(client, { ...key, at }, prepared);
      added.push(performance.now() - began);
    });
  }
  const p95 = added.toSorted((a, b) => a - b)[Math.floor(0.95 * ROUNDS)] ?? 0;
  console.log(`${series} numbers: ${median(added).toFixed(2)} ms (median), ${p95.toFixed(2)} ms (p95)`);
}
await store.stop();
process.exit();
