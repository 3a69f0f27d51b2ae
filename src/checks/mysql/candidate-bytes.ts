import type { TableCondition } from './table-condition.ts';

/** Bytes of a table, or of its indexes: a smaller one stays in memory, where its design does not matter yet. */
export const largeTable = { minimum_bytes: 1024 * 1024 };

/**
 * Candidates, whose names are those of `exactName`, with the `bytes` of their tables: of the rows, of all secondary
 * indexes, or of both. MySQL reads the sizes of these tables only, MariaDB of all that `ofTables` names.
 */
export function withBytes(
  candidates: string,
  of: 'data_length' | 'index_length' | 'both',
  ofTables: TableCondition,
): string {
  const same = (name: string) => `
       t.${name} = convert(sized.${name} using utf8mb3) and cast(t.${name} as binary) = cast(sized.${name} as binary)`;
  const bytes = of === 'both' ? 't.data_length + t.index_length' : `t.${of}`;
  return `
  select sized.*, ${bytes} + 0e0 as bytes
    from (${candidates}
         ) sized
    join information_schema.tables t
      on ${same('table_schema')}
     and ${same('table_name')}
   where ${ofTables('t.')}`;
}
