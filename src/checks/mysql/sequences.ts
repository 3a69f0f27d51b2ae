import { TABLE_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { exactly, quoted } from './quote.ts';
import { ofCustomers } from './table-condition.ts';

/** The most sequences that a run reads, in one statement that opens each. */
const READ_LIMIT = 500;

interface Named {
  schema: string;
  name: string;
}

/** A sequence of MariaDB that does not cycle. It may have given fewer values: those of its cache count as given. */
export interface Sequence extends Named {
  /** The first value that it has not reserved. */
  next: bigint;
  lowest: bigint;
  highest: bigint;
  /** 0 if the server's auto_increment_increment counts. */
  increment: bigint;
  /** How many values a reservation takes. */
  cache: bigint;
  /** Such as `bigint(21)`. */
  type: string;
}

/** What a run knows of the sequences of a server. */
export interface Sequences {
  read: Sequence[];
  /** Those that the login may not read. */
  hidden: Named[];
  /** There are more than a run reads. */
  areMany: boolean;
}

const listed = `
  select table_schema as sequence_schema, table_name as sequence_name
    from information_schema.tables
   where ${ofCustomers()} and table_type = 'SEQUENCE'
   order by 1, 2
   limit ${READ_LIMIT + 1}`;

// The view has what the login may do with each column, by a role too.
const access = (sequences: readonly Named[]) => `
  select table_schema as access_schema, table_name as access_name, column_type as sequence_type,
         find_in_set('select', privileges) > 0 as readable
    from information_schema.columns
   where table_schema in (${[...new Set(sequences.map(({ schema }) => schema))].map(exactly).join(', ')})
     and concat(table_schema, '/', table_name) in (${sequences.map(({ schema, name }) => exactly(`${schema}/${name}`)).join(', ')})
     and column_name = 'next_not_cached_value'`;

const values = (sequences: readonly Named[]) =>
  sequences
    .map(
      ({ schema, name }, place) => `
  select ${place} as sequence_place, cast(next_not_cached_value as char) as next_value,
         cast(minimum_value as char) as lowest, cast(maximum_value as char) as highest,
         cast(increment as char) as step, cast(cache_size as char) as cached
    from ${quoted(schema, name)} where not cycle_option`,
    )
    .join('\n union all ');

/** MariaDB: the statements that read the sequences, each made of the rows before it. */
export const sequenceSteps: readonly ((rows: readonly Row[]) => string | undefined)[] = [
  (rows) => (numberIn(onlyRow(rows), 'tables') > TABLE_LIMIT ? undefined : listed),
  (rows) => statementOf(access, namesIn(rows).slice(0, READ_LIMIT)),
  (rows) => statementOf(values, readableIn(rows)),
];

function statementOf(make: (sequences: readonly Named[]) => string, sequences: readonly Named[]) {
  return sequences.length === 0 ? undefined : make(sequences);
}

/** What the statements of {@link sequenceSteps} read. */
export function sequencesIn(rows: readonly Row[]): Sequences {
  const names = namesIn(rows);
  const readable = readableIn(rows);
  const read = rows
    .filter((row) => 'sequence_place' in row)
    .flatMap((row) => {
      const sequence = readable[numberIn(row, 'sequence_place')];
      return sequence ? [toSequence(row, sequence)] : [];
    });
  const canRead = new Set(readable.map(nameOf));
  return {
    read,
    hidden: names.slice(0, READ_LIMIT).filter((sequence) => !canRead.has(nameOf(sequence))),
    areMany: names.length > READ_LIMIT,
  };
}

function namesIn(rows: readonly Row[]): Named[] {
  return rows
    .filter((row) => 'sequence_name' in row)
    .map((row) => ({ schema: textIn(row, 'sequence_schema'), name: textIn(row, 'sequence_name') }));
}

function readableIn(rows: readonly Row[]): (Named & { type: string })[] {
  return rows
    .filter((row) => row['readable'] === 1)
    .map((row) => ({
      schema: textIn(row, 'access_schema'),
      name: textIn(row, 'access_name'),
      type: textIn(row, 'sequence_type'),
    }));
}

/** The quoted name of a sequence. */
export function nameOf({ schema, name }: Named): string {
  return quoted(schema, name);
}

function toSequence(row: Row, { schema, name, type }: Named & { type: string }): Sequence {
  return {
    schema,
    name,
    type,
    next: integerIn(row, 'next_value'),
    lowest: integerIn(row, 'lowest'),
    highest: integerIn(row, 'highest'),
    increment: integerIn(row, 'step'),
    cache: integerIn(row, 'cached'),
  };
}

function integerIn(row: Row, column: string): bigint {
  const text = textIn(row, column);
  if (!/^-?\d{1,20}$/.test(text))
    throw new TypeError(`Column ${column} of the check's statement must be a whole number.`);
  return BigInt(text);
}

/** The share of a sequence's values that are given or reserved: 0 to 1. */
export function usedShare({ next, lowest, highest, increment }: Sequence): number {
  const all = highest - lowest + 1n;
  const used = increment < 0n ? highest - next : next - lowest;
  if (all <= 0n || used >= all) return 1;
  return used <= 0n ? 0 : Number((used * 1_000_000_000n) / all) / 1e9;
}
