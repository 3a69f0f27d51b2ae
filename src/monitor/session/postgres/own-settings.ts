import type { Row } from '../../../checks/fault.ts';
import { literal } from '../../../checks/postgres/server-texts.ts';

/**
 * Settings that change what a statement says or costs, and that a role, a database or the server may set: → the value of a
 * run, or null for the one that is built in. Names of objects must stay the same, because tickets and silences have them; JIT
 * compiles for longer than the checks run, and parallel workers, which are the server's own, take longer to start than they save.
 */
const OWN: Readonly<Record<string, string | null>> = {
  quote_all_identifiers: 'off',
  jit: 'off',
  row_security: 'on',
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  TimeZone: 'UTC',
  transform_null_equals: 'off',
  array_nulls: 'on',
  transaction_timeout: null,
  work_mem: null,
  hash_mem_multiplier: null,
  plan_cache_mode: null,
  constraint_exclusion: null,
  seq_page_cost: null,
  random_page_cost: null,
  effective_cache_size: null,
  geqo: null,
  cpu_tuple_cost: null,
  cpu_index_tuple_cost: null,
  cpu_operator_cost: null,
  parallel_setup_cost: null,
  parallel_tuple_cost: null,
  max_parallel_workers_per_gather: '0',
  from_collapse_limit: null,
  join_collapse_limit: null,
  stats_fetch_consistency: null,
  cursor_tuple_fraction: null,
  recursive_worktable_factor: null,
  debug_parallel_query: null,
};

/** What a statement about settings must have too: it reads the others. */
const FORMATS = new Set(['quote_all_identifiers', 'extra_float_digits']);

const values = Object.entries(OWN)
  .map(([name, value]) => `(${literal(name)}, ${value === null ? 'null' : literal(value)})`)
  .join(', ');

/** The statement for the settings of a session that differ from those of a run; `enable_…` are the planner's switches. */
export const differingSettings = `
  select name, coalesce(own.value, boot_val) as value
    from pg_settings
    left join (values ${values}) own (setting_name, value) on own.setting_name = name
   where context = 'user'
     and (own.setting_name is not null or name like 'enable\\_%')
     and setting is distinct from coalesce(own.value, boot_val)`;

/** Sets the settings of {@link differingSettings} for a transaction. */
export function setOwn(rows: readonly Row[]): { all: string; formats: string } {
  const differing = rows.flatMap(({ name, value }) =>
    typeof name === 'string' &&
    typeof value === 'string' &&
    (Object.hasOwn(OWN, name) || /^enable_\w+$/.test(name))
      ? [{ name, statement: `set local ${name} = ${literal(value)};` }]
      : [],
  );
  const statements = (some: typeof differing) => some.map(({ statement }) => statement).join('\n');
  return {
    all: statements(differing),
    formats: statements(differing.filter(({ name }) => FORMATS.has(name))),
  };
}
