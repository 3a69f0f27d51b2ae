import { type Measured, startDashboard, startEndpointOne, startMeasured } from './contestants.ts';
import { memoryOf } from './cost.ts';
import { type Figure, under } from './figure.ts';
import { measureReads, type ReadStandings, readFigures } from './reads/measure-reads.ts';
import { NUMBER_NAMES, numberReads } from './reads/number-reads.ts';
import { READS, type Read } from './reads/reads.ts';
import { keptFigures, measureSteady } from './rivals.ts';
import { compare, type LoadSize, type Standing } from './rounds.ts';

const KEPT = ['kept-50', 'kept-5000'];
const STEADY = 'steady';
/** All endpoints for numbers, and the steady rate with them among the eight. */
const NUMBERS = 'numbers';
const STEADY_NUMBERS = 'steady-numbers';
const WARM_UP_SECONDS = 6;

/** The names for `--only`. */
export const NAMES = [
  ...READS.map(({ name }) => name),
  ...KEPT,
  STEADY,
  ...NUMBER_NAMES,
  NUMBERS,
  STEADY_NUMBERS,
];

/** The results of one read. */
export interface OneResult {
  figures: Figure[];
  reads: ReadStandings[];
  standings: Standing[];
}

/** Measures the read of this name, or the steady rate. `flags` are more flags for the service's Node. */
export async function measureOne(
  say: (step: string) => void,
  name: string,
  flags: readonly string[],
  load: LoadSize,
): Promise<OneResult> {
  say('accounts and servers');
  const measured = await startMeasured(name === 'kept-5000' ? 100 : load.readers + 2, keysOf(name), flags);
  const results = KEPT.includes(name)
    ? await measureKept(measured, name, load)
    : name === STEADY || name === STEADY_NUMBERS
      ? await measureDashboard(measured, name === STEADY ? [] : await numberReads(measured), load)
      : await measureRead(say, measured, name, load);
  const { peak } = memoryOf(measured.service.pid);
  await measured.service.stop();
  return {
    ...results,
    figures: [...results.figures, under('service process, memory at its peak', 250, peak, 'MB')],
  };
}

function keysOf(name: string): number {
  return name === 'kept-5000' ? 50 : 1;
}

async function measureDashboard(
  measured: Measured,
  more: readonly Read[],
  load: LoadSize,
): Promise<OneResult> {
  const dashboard = await startDashboard(
    measured,
    more.map(({ path }) => path),
  );
  // With more paths it takes longer until Node has compiled what they run.
  const warmed = { ...dashboard, warmUp: more.length > 0 ? WARM_UP_SECONDS : 0 };
  const standings = await compare([warmed], { ...load, connections: load.readers });
  const { figure } = await measureSteady(dashboard, load);
  return { figures: [figure], reads: [], standings };
}

async function measureRead(
  say: (step: string) => void,
  measured: Measured,
  name: string,
  load: LoadSize,
): Promise<OneResult> {
  const known = READS.find((read) => read.name === name);
  const chosen = known
    ? [known]
    : (await numberReads(measured)).filter((read) => name === NUMBERS || read.name === name);
  const reads = await measureReads(say, measured, chosen, load);
  return { figures: readFigures(reads), reads, standings: [] };
}

async function measureKept(measured: Measured, name: string, load: LoadSize): Promise<OneResult> {
  const { bare, fifty, thousands } = await startEndpointOne(measured);
  const isFifty = name === 'kept-50';
  const standings = await compare([bare, isFifty ? fifty : thousands], load);
  const figures = isFifty
    ? keptFigures('50 keys', standings[1], { rate: 0.5, cost: 2 })
    : keptFigures('5,000 keys', standings[1], { rate: 0.35, cost: 2.5 });
  return { figures, reads: [], standings };
}
