// InnoDB's dictionary of MariaDB names a table as its file: `shop/a@0020b#P#p0` is a partition of `a b`. Names are compared by
// their bytes: `cafe` and `café` are two tables.

const decoded = (part: string) =>
  `convert(convert(cast(${part} as binary) using filename) using utf8mb4) collate utf8mb4_bin`;

/** The schema in a column with a name of MariaDB's InnoDB. */
export const schemaOfFile = (column: string): string => decoded(`substring_index(${column}, '/', 1)`);

/** The table in a column with a name of MariaDB's InnoDB. */
export const tableOfFile = (column: string): string =>
  decoded(`substring_index(${ofPartition(column)}, '/', -1)`);

/** The name without its partition. */
export const fileOfTable = (column: string): string => `cast(${ofPartition(column)} as binary)`;

const ofPartition = (column: string) => `substring_index(substring_index(${column}, '#P#', 1), '#p#', 1)`;
