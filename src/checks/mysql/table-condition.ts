/** A condition on the tables of information_schema. `alias` as in `t.`. */
export type TableCondition = (alias?: string) => string;

/** The customer's tables, not system tables. */
export const ofCustomers: TableCondition = (alias = '') =>
  `${alias}table_schema not in ('mysql', 'sys', 'information_schema', 'performance_schema')`;
