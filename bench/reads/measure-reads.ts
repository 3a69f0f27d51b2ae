import type { Measured } from '../contestants.ts';
import { atLeast, type Figure } from '../figure.ts';
import { compare, type LoadSize, type Standing } from '../rounds.ts';
import { type Read, type ReadContestants, startReads } from './reads.ts';

// Nothing is compared with them round by round.
const LIMIT_ROUNDS = 5;

/** A read's results: the plain server, the service, and the limits of Node and PostgreSQL. */
export interface ReadStandings extends Pick<ReadContestants, 'read' | 'bytes'> {
  plain: Standing;
  ours: Standing;
  bare: Standing;
  select: Standing;
}

/** Compares the service's reads with the plain server's, one read after the other. */
export async function measureReads(
  say: (step: string) => void,
  measured: Measured,
  reads: readonly Read[],
  load: LoadSize,
): Promise<ReadStandings[]> {
  const results: ReadStandings[] = [];
  const size = { ...load, connections: load.readers };
  for (const { contestants, limits, ...of } of await startReads(measured, reads, load.readers)) {
    say(`${of.read.title}: ${load.rounds} rounds of ${load.seconds} s each`);
    const [plain, ours] = await compare(contestants, size);
    const rounds = Math.min(load.rounds, LIMIT_ROUNDS);
    const [bare, select] = await compare(limits, { ...size, rounds });
    if (plain && ours && bare && select) results.push({ ...of, plain, ours, bare, select });
  }
  return results;
}

/** What a read must reach: its processor time decides, its rate stands beside it. */
export function readFigures(results: readonly ReadStandings[]): Figure[] {
  return results.flatMap(({ read, ours }) => [
    atLeast(`${read.title}: answers for the plain server's CPU time of one`, read.reach, ours.thrift),
    atLeast(`${read.title}: rate, of the plain server's`, read.reach, ours.ratio),
  ]);
}
