// The number is arbitrary.
const SEALING = 5_807;

/**
 * Takes the lock for sealing an account's log or making its key, until the transaction ends. Parameter: the account. The
 * removal of an account's copy waits for it too, so no seal or key is added behind it.
 */
export const lockSealing = `select pg_advisory_xact_lock(${SEALING}, hashint8($1))`;
