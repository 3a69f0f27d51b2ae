import { grouped, rate } from '../wording.ts';
import { counterCheck, type Grown } from './counter-check.ts';
import { setForGood } from './setting-check.ts';

/** Table definitions read per second while the cache is full; dbvitals' own. */
const thresholds = { warning_per_second: 20 };

// A run of dbvitals opens tables itself, so the rate covers at least this time.
const LEAST_MINUTES = 10;

/** A cache counts as full from this share on: DROP TABLE makes places in a full one. */
const FULL = 0.95;

/** The largest value that MySQL takes. */
const MOST = 524_288;

const READ = 'Opened_table_definitions';
const CREATED = ['Com_create_table', 'Com_create_temporary_table'] as const;
const [CACHED, CACHE] = ['Open_table_definitions', 'table_definition_cache'];

/** The cache of table definitions is smaller than the tables in use. */
export const tableDefinitionCache = counterCheck({
  id: 'MY_TABLE_DEFINITION_CACHE',
  title: 'Table definition cache too small',
  category: 'performance',
  severity: 'warning',
  thresholds,
  counters: [READ, CREATED[0]],
  status: [CREATED[1], CACHED],
  variables: [CACHE],
  measures: (grown, { thresholds: { warning_per_second } }) => {
    const measure = {
      metric: 'table_definitions_read_per_second',
      value: readPerSecond(grown),
      critical: null,
    };
    return [
      full(grown)
        ? { ...measure, operator: '>=', warning: warning_per_second }
        : { ...measure, operator: null, warning: null },
    ];
  },
  fault: (grown, facts) => {
    if (!full(grown) || readPerSecond(grown) < facts.thresholds.warning_per_second) return null;
    const places = grown.now.number(CACHE);
    return {
      metricLine: `${line(grown)}, and its ${grouped(places)} places are taken; raise ${CACHE}.`,
      remediation: setForGood(facts, CACHE, Math.min(MOST, places * 2)),
    };
  },
  passMessage: (grown) => `${line(grown)}.`,
});

/** Whether it has no place left, and can be made larger. */
function full({ now }: Grown): boolean {
  return now.number(CACHED) >= FULL * now.number(CACHE) && now.number(CACHE) < MOST;
}

/** CREATE TABLE reads a definition too, and a temporary table is counted twice: measured on MySQL 9.7 and MariaDB 10.11. */
function readPerSecond({ by, now, minutes }: Grown): number {
  const created = CREATED.filter((name) => now.has(name)).reduce((sum, name) => sum + by(name), 0);
  return Math.max(0, by(READ) - 2 * created) / Math.max(minutes, LEAST_MINUTES) / 60;
}

function line(grown: Grown): string {
  return `The table definition cache missed ${rate(readPerSecond(grown))} since the last run`;
}
