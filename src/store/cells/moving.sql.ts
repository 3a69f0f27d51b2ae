/** SQL: whether an account does not move, and has not moved away: while it does, nothing is deleted in either cell. */
export function doesNotMove(account: string): string {
  return `not exists (select from account_move m where m.account_id = ${account})`;
}

/** SQL: whether background work may start for an account in this cell: it does not move, or is only being copied. */
export function mayStartWork(account: string): string {
  return `not exists (select from account_move m where m.account_id = ${account} and m.state <> 'copying')`;
}
