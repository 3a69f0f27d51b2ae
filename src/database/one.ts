/** The row of a statement that always gives exactly one. Throws an error that names `purpose`, such as `store a key`, where it did not. */
export function one<Row>(rows: readonly Row[], purpose: string): Row {
  const [row] = rows;
  if (row === undefined || rows.length > 1)
    throw new Error(`The statement to ${purpose} gave ${rows.length} rows instead of one.`);
  return row;
}
