/** An account as a store names it. */
export interface NamedAccount {
  account_id: number;
  name: string;
}

/** The accounts of all stores as the console lists them: by name, as PostgreSQL orders one store's. */
export function sortedAccounts(accounts: readonly NamedAccount[]): { id: number; name: string }[] {
  return accounts
    .toSorted((one, other) => compare(one.name, other.name) || one.account_id - other.account_id)
    .map(({ account_id: id, name }) => ({ id, name }));
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
