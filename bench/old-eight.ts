import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutContestant, costLine } from './checkout-contestant.ts';
import { dashboardPaths } from './mixes.ts';
import { compare } from './rounds.ts';
import { removeDataDirs, stopServers } from './servers.ts';

// The processor time of an answer of the eight endpoints of the specification, against another checkout: `node bench/old-eight.ts --base
// CHECKOUT`, which has node_modules. Fails if it is more than 2 % higher. Rounds alternate, and each is compared with the other of its pair, so
// that what else runs on the machine counts little. Three minutes, most of them the rounds.

// Both run from their sources, as a checkout does.
const ROOT = resolve(import.meta.dirname, '..');
/** How much more an answer may cost. */
const MOST = 1.02;

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    rounds: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '32' },
  },
});
if (values.base === undefined) throw new Error('Name the checkout to compare with: --base CHECKOUT.');

try {
  const before = await checkoutContestant('before', resolve(values.base), dashboardPaths);
  const now = await checkoutContestant('now', ROOT, dashboardPaths);
  const standings = await compare([before, now], {
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    connections: Number(values.connections),
  });
  for (const standing of standings) console.log(costLine(standing));
  const [, measured] = standings;
  if (measured === undefined) throw new Error('Nothing was measured.');
  const all = 1 / measured.thrift;
  const percent = (ratio: number) => `${((ratio - 1) * 100).toFixed(1)} %`;
  console.log(
    `An answer takes ${percent(all)} more with PostgreSQL, ${percent(measured.serverCost)} more of Node.`,
  );
  if (all > MOST) process.exitCode = 1;
} finally {
  await stopServers();
  removeDataDirs();
}
