/**
 * Works on one account after the other. If that fails for one, it goes on with the next, and throws the first error at the
 * end.
 */
export async function eachAccount(
  accountIds: readonly number[],
  work: (accountId: number) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  for (const accountId of accountIds) await work(accountId).catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}
