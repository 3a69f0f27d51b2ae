import type { Figure } from '../../bench/one-run.ts';
import { measureAccounts } from '../../bench/pulse/accounts.ts';
import { ALL_CHAINS, measureChains } from '../../bench/pulse/chains.ts';
import { measureManyPulses } from '../../bench/pulse/many.ts';
import { measurePages } from '../../bench/pulse/pages.ts';
import { measureTold } from '../../bench/pulse/told.ts';
import { type Extent, type Fault, Seen } from './fault.ts';

/** Of a child process with ten sessions. */
const ACCOUNT_MB = 60;

/** A row that measures as `npm run bench:pulse` does: each figure that has a limit is judged. */
function measured(
  fault: string,
  figure: string,
  measure: (figure: Figure, isShort: boolean) => Promise<void>,
): Fault {
  return {
    fault,
    figure,
    async provoke(extent: Extent) {
      const seen = new Seen();
      await measure((what, value, unit, limit) => {
        const text = unit === '' ? '' : ` ${unit}`;
        if (limit === undefined) seen.holds(`${what} ${Number(value.toFixed(2))}${text}`, true);
        else seen.atMost(value, limit, what, text);
      }, extent === 'short');
      return seen;
    },
  };
}

/** How a pulse finds who blocks whom, how fast a person is told, and what it costs. */
export const pulseFigures = {
  'pulse-chains': measured(
    'chains of sessions that wait for each other, depth 1 to 3',
    'each found with its root; begin and end within 2 s',
    (figure, isShort) =>
      measureChains(figure, isShort ? { ...ALL_CHAINS, chains: 6, longestS: 20 } : ALL_CHAINS),
  ),
  'pulse-told': measured(
    'sessions blocked, connections used up, a server gone',
    'p95 to the message: blocked within 20 s of the threshold, the others 30 s; to resolved 60 s',
    (figure, isShort) => measureTold(figure, isShort ? 3 : 20),
  ),
  'pulse-many': measured(
    'pulses of many connections of one account',
    'lateness p99 at most 1 s; at most 400 MB',
    (figure, isShort) => (isShort ? measureManyPulses(figure, 100, 30) : measureManyPulses(figure)),
  ),
  'pulse-accounts': measured(
    'pulses of many accounts with 10 connections each',
    `at most ${ACCOUNT_MB} MB an account`,
    (figure, isShort) => measureAccounts(figure, isShort ? 4 : 100, ACCOUNT_MB),
  ),
  'pulse-pages': measured(
    'ordinary work: transfers, vacuum, a backup, an index, DDL, restarts of a replica',
    '0 tickets of what pulses see',
    (figure, isShort) => measurePages(figure, isShort ? 2 : 60),
  ),
} as const satisfies Record<string, Fault>;
