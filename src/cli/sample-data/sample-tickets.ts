import type { Finding } from '../../checks/check.ts';
import type { FaultMeasure } from '../../checks/measure.ts';
import type { ListedCheck } from '../command.ts';
import { fillText, SAMPLE_FAULTS, type SampleFault, type SampleMeasured } from './faults/sample-faults.ts';
import { SAMPLE_TABLES } from './faults/sample-names.ts';
import { OWN_FAULT } from './own-check/sample-own-check.ts';
import { LARGE_POOLS, POOLER_FAULTS } from './pooler/sample-pooler-faults.ts';
import type { SampleConnection, SampleFleet } from './sample-connection.ts';
import { pick, randomNumbers } from './sample-random.ts';

/** A ticket of sample data, found by the runs from `first` to before `end`. Its texts are generated when needed. */
export interface SampleTicket {
  fault: SampleFault;
  /** The table's index in `SAMPLE_TABLES`. Beyond its end, the names repeat with a number. */
  table: number;
  /** The variable part of its metric line, 0 to 99. */
  n: number;
  severity: Finding['severity'];
  first: number;
  /** The run that no longer finds it; null if it is still open at the end of the history. */
  end: number | null;
  /** 1, 2, 3 … among the fleet's tickets, in order of time; 0 until it is numbered. */
  number: number;
}

/** The tickets that a run of a connection opened, resolved and found. */
interface SampleRun {
  opened: SampleTicket[];
  resolved: SampleTicket[];
  standing: readonly SampleTicket[];
}

const STAY_SHARE = 0.1; // the share of tickets that are never resolved
const MOST_STAYING = 20; // maximum of those per connection
const LASTING_SHARE = 0.9; // when the ticket opens that each fleet has, and that stays
const MEAN_RUNS = 3; // mean lifetime of the others

/** The runs of a connection in order, the same at every call. */
export function* runsOf(
  { seed, tickets, engine, hasOwnCheck }: SampleConnection,
  { runs, days }: Pick<SampleFleet, 'runs' | 'days'>,
): Generator<SampleRun> {
  const random = randomNumbers(seed);
  const faults = engine === 'pgbouncer' ? POOLER_FAULTS : SAMPLE_FAULTS[engine];
  const dayRuns = Math.ceil(runs / days) + 1;
  const taken = new Set<string>();
  let standing: SampleTicket[] = [];
  let rested: SampleTicket[] = [];
  const lasting = tickets > 0 ? lastingFault({ engine, hasOwnCheck }) : null;
  const lastingRun = Math.floor(LASTING_SHARE * runs);
  let left = lasting === null ? tickets : tickets - 1;
  for (let run = 0; run < runs; run++) {
    const resolved = standing.filter(({ end }) => end === run);
    if (resolved.length > 0) {
      standing = standing.filter(({ end }) => end !== run);
      rested.push(...resolved);
    }
    // A finding that returns within a day would reopen its ticket, so the same fault returns only later.
    const free = rested.filter(({ end }) => (end ?? 0) + dayRuns <= run);
    for (const ticket of free) taken.delete(thing(ticket));
    if (free.length > 0) rested = rested.slice(free.length);
    const share = left / (runs - run);
    const count = run === runs - 1 ? left : Math.min(left, Math.floor(2 * random() * share + random()));
    const opened = lasting !== null && run === lastingRun ? [openLasting(lasting, seed, run)] : [];
    for (let n = 0; n < count; n++) {
      const ticket = { ...findFault(faults, taken, random), first: run, end: null, number: 0 };
      const end = run + 1 + Math.floor(-MEAN_RUNS * Math.log(1 - random()));
      const stays = random() < STAY_SHARE && standing.length < MOST_STAYING;
      opened.push(stays || end >= runs ? ticket : { ...ticket, end });
    }
    left -= count;
    if (opened.length > 0) standing = [...standing, ...opened];
    yield { opened, resolved, standing };
  }
}

/** The fault that the connection has at the end whatever the seed: those of features that few connections have. */
function lastingFault({
  engine,
  hasOwnCheck,
}: Pick<SampleConnection, 'engine' | 'hasOwnCheck'>): SampleFault | null {
  if (hasOwnCheck) return OWN_FAULT;
  return engine === 'pgbouncer' ? LARGE_POOLS : null;
}

function openLasting(fault: SampleFault, seed: number, first: number): SampleTicket {
  return { fault, table: 0, n: seed % 100, severity: 'warning', first, end: null, number: 0 };
}

/** Picks a fault that is not taken, and marks it as taken. */
function findFault(
  faults: readonly SampleFault[],
  taken: Set<string>,
  random: () => number,
): Pick<SampleTicket, 'fault' | 'table' | 'n' | 'severity'> {
  const start = Math.floor(random() * faults.length);
  const choice = { n: Math.floor(random() * 100), severity: random() };
  for (let table = Math.floor(random() * SAMPLE_TABLES.length); ; table += SAMPLE_TABLES.length) {
    for (let tried = 0; tried < faults.length; tried++) {
      const fault = pick(faults, (start + tried + 0.5) / faults.length);
      const name = thing({ fault, table });
      if (taken.has(name)) continue;
      taken.add(name);
      return { fault, table, n: choice.n, severity: pick(fault.severities, choice.severity) };
    }
  }
}

function thing({ fault, table }: Pick<SampleTicket, 'fault' | 'table'>): string {
  return `${fault.checkId} ${fault.object === null ? '' : table}`;
}

/** The name of a ticket's table. */
export function tableName(table: number): string {
  const name = pick(SAMPLE_TABLES, (table + 0.5) / SAMPLE_TABLES.length);
  return table < SAMPLE_TABLES.length ? name : `${name}_${Math.floor(table / SAMPLE_TABLES.length) + 1}`;
}

/** The finding of a run for a ticket. */
export function findingOf(
  { fault, table, n, severity }: SampleTicket,
  checks: ReadonlyMap<string, ListedCheck>,
): Finding {
  const check = checks.get(fault.checkId);
  if (!check) throw new Error('The catalogue lacks a check that sample data needs.');
  const values = { table: tableName(table), ...fault.numbers?.(n, severity) };
  return {
    check_id: check.id,
    category: check.category,
    status: severity,
    title: check.title,
    metric_line: fillText(fault.line, values),
    remediation: fillText(fault.remediation, values),
    severity,
    database: fault.database,
    object: fault.object === null ? null : fillText(fault.object, values),
    ...(fault.measured && { measured: measure(fault.measured, n, severity) }),
  };
}

function measure(measured: SampleMeasured, n: number, severity: Finding['severity']): FaultMeasure {
  const { metric, value, warning, critical } = measured;
  const threshold = (severity === 'critical' ? critical : null) ?? warning;
  return { metric, value: value(n, severity), operator: '>=', threshold };
}
