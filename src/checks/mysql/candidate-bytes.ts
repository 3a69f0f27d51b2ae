import type { TableCondition } from './table-condition.ts';

/** Bytes of a table, or of its indexes: a smaller one stays in memory, where its design does not matter yet. */
export const largeTable = { minimum_bytes: 1024 * 1024 };

/**
 * Candidates, whose names are those of `exactName`, with the `bytes` of their tables: of the rows, or of all secondary
 * indexes. MySQL reads the sizes of these tables only.
 */
export function withBytes(
  candidates: string,
  column: 'data_length' | 'index_length',
  ofTables: TableCondition,
): string {
  const same = (name: string) => `
       t.${name} = convert(sized.${name} using utf8mb3) and cast(t.${name} as binary) = cast(sized.${name} as binary)`;
  return `
  select sized.*, t.${column} + 0e0 as bytes
    from (${candidates}
         ) sized
    join information_schema.tables t
      on ${same('table_schema')}
     and ${same('table_name')}
   where ${ofTables('t.')}`;
}
