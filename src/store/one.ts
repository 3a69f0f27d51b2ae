/** Returns the row of a statement that must return exactly one. Otherwise throws an error that names `purpose`, such as `store a key`. */
export function one<Row>(rows: readonly Row[], purpose: string): Row {
  const [row] = rows;
  if (row === undefined || rows.length > 1)
    throw new Error(`The statement to ${purpose} returned ${rows.length} rows instead of one.`);
  return row;
}
