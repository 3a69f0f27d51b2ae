import { TABLE_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { exactly, quoted } from './quote.ts';
import { ofCustomers } from './table-condition.ts';

/** The most sequences that a run reads, in one statement that opens each. */
const READ_LIMIT = 500;

/** On a server of more tables, a run does not look for the columns that sequences fill. */
const COLUMN_TABLES = 4_000;

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
  /** The narrowest of the columns whose default takes its values, if that ends before the sequence does. */
  column: FilledColumn | null;
}

/** A column of whole numbers whose default takes the values of a sequence. */
interface FilledColumn {
  schema: string;
  table: string;
  name: string;
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

// MariaDB writes NEXT VALUE FOR and NEXTVAL alike, with the name in quotes.
const filled = `
  select table_schema as filled_schema, table_name as filled_table, column_name as filled_column,
         left(column_type, 64) as column_type, left(column_default, 600) as filled_default
    from information_schema.columns
   where ${ofCustomers()} and column_default like 'nextval(%' and data_type like '%int'
   limit 5000`;

/** MariaDB: the statements that read the sequences, each made of the rows before it. */
export const sequenceSteps: readonly ((rows: readonly Row[]) => string | undefined)[] = [
  (rows) => (numberIn(onlyRow(rows), 'tables') > TABLE_LIMIT ? undefined : listed),
  (rows) => makeStatement(access, namesIn(rows).slice(0, READ_LIMIT)),
  (rows) => makeStatement(values, readableIn(rows)),
  (rows) =>
    numberIn(onlyRow(rows), 'tables') > COLUMN_TABLES || readableIn(rows).length === 0 ? undefined : filled,
];

function makeStatement(make: (sequences: readonly Named[]) => string, sequences: readonly Named[]) {
  return sequences.length === 0 ? undefined : make(sequences);
}

/** What the statements of {@link sequenceSteps} read. */
export function sequencesIn(rows: readonly Row[]): Sequences {
  const names = namesIn(rows);
  const readable = readableIn(rows);
  const columns = columnsBySequence(rows);
  const read = rows
    .filter((row) => 'sequence_place' in row)
    .flatMap((row) => {
      const named = readable[numberIn(row, 'sequence_place')];
      if (!named) return [];
      const sequence = toSequence(row, named);
      return [{ ...sequence, column: findNarrowest(columns.get(quotedSequence(named)) ?? [], sequence) }];
    });
  const canRead = new Set(readable.map(quotedSequence));
  return {
    read,
    hidden: names.slice(0, READ_LIMIT).filter((sequence) => !canRead.has(quotedSequence(sequence))),
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
export function quotedSequence({ schema, name }: Named): string {
  return quoted(schema, name);
}

function toSequence(row: Row, { schema, name, type }: Named & { type: string }): Omit<Sequence, 'column'> {
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

const QUOTED = '`((?:[^`]|``)+)`';
const NEXT_VALUE = new RegExp(`^nextval\\(${QUOTED}\\.${QUOTED}\\)$`, 'i');

/** The columns that each sequence fills, by its quoted name. */
function columnsBySequence(rows: readonly Row[]): ReadonlyMap<string, FilledColumn[]> {
  const columns = new Map<string, FilledColumn[]>();
  for (const row of rows) {
    if (!('filled_default' in row)) continue;
    const [, schema = '', name = ''] = NEXT_VALUE.exec(textIn(row, 'filled_default')) ?? [];
    const sequence = `\`${schema}\`.\`${name}\``;
    const column = {
      schema: textIn(row, 'filled_schema'),
      table: textIn(row, 'filled_table'),
      name: textIn(row, 'filled_column'),
      type: textIn(row, 'column_type'),
    };
    columns.set(sequence, [...(columns.get(sequence) ?? []), column]);
  }
  return columns;
}

/** The column that ends first, if any of them ends before the sequence. */
function findNarrowest(
  columns: readonly FilledColumn[],
  sequence: Omit<Sequence, 'column'>,
): FilledColumn | null {
  let narrowest: FilledColumn | null = null;
  for (const column of columns) {
    const [before, after] = [
      lastValue({ ...sequence, column: narrowest }),
      lastValue({ ...sequence, column }),
    ];
    if (isFalling(sequence) ? after > before : after < before) narrowest = column;
  }
  return narrowest;
}

/** Whether a sequence counts down. */
export function isFalling({ increment }: Pick<Sequence, 'increment'>): boolean {
  return increment < 0n;
}

/** The last value that a sequence can give, and its column can have. */
export function lastValue(sequence: Sequence): bigint {
  const { lowest, highest, column } = sequence;
  const range = column && typeRange(column.type);
  if (isFalling(sequence)) return range && range.least > lowest ? range.least : lowest;
  return range && range.most < highest ? range.most : highest;
}

const BITS: Readonly<Record<string, bigint>> = { tinyint: 8n, smallint: 16n, mediumint: 24n, int: 32n };

/** The bits of a type of whole numbers. Sequences have 64 before MariaDB 11.5, which gave them types. */
export function typeBits(type: string): bigint {
  return BITS[/^\w*/.exec(type)?.[0] ?? ''] ?? 64n;
}

/** Whether a type has no negative values. */
export function isUnsigned(type: string): boolean {
  return /\bunsigned\b/.test(type);
}

/** The least and the most that a column of a type of whole numbers can have. */
export function typeRange(type: string): { least: bigint; most: bigint } {
  const values = 1n << typeBits(type);
  return isUnsigned(type)
    ? { least: 0n, most: values - 1n }
    : { least: -values / 2n, most: values / 2n - 1n };
}

/** The share of a sequence's values, as far as its column can have them, that are given or reserved: 0 to 1. */
export function usedShare(sequence: Sequence): number {
  const { next, lowest, highest } = sequence;
  const [used, all] = isFalling(sequence)
    ? [highest - next, highest - lastValue(sequence) + 1n]
    : [next - lowest, lastValue(sequence) - lowest + 1n];
  if (all <= 0n || used >= all) return 1;
  return used <= 0n ? 0 : Number((used * 1_000_000_000n) / all) / 1e9;
}
