/** The kinds of a granted metadata lock that each wanted kind waits for, where these are not all. */
const WAITS_FOR: Readonly<Record<string, readonly string[]>> = {
  INTENTION_EXCLUSIVE: ['SHARED', 'EXCLUSIVE'],
  SHARED_READ: ['SHARED_NO_READ_WRITE', 'EXCLUSIVE'],
  SHARED_WRITE: ['SHARED_READ_ONLY', 'SHARED_NO_WRITE', 'SHARED_NO_READ_WRITE', 'EXCLUSIVE'],
  SHARED_WRITE_LOW_PRIO: ['SHARED_READ_ONLY', 'SHARED_NO_WRITE', 'SHARED_NO_READ_WRITE', 'EXCLUSIVE'],
  SHARED_READ_ONLY: ['SHARED_WRITE', 'SHARED_WRITE_LOW_PRIO', 'SHARED_NO_READ_WRITE', 'EXCLUSIVE'],
  SHARED_UPGRADABLE: ['SHARED_UPGRADABLE', 'SHARED_NO_WRITE', 'SHARED_NO_READ_WRITE', 'EXCLUSIVE'],
};

/**
 * Expression: whether a metadata lock (a row of metadata_locks) waits for another one, which is granted: 1 or 0. Where one waits for none that is
 * granted, it waits behind a session that waits itself, so all holders are causes: a reader behind an ALTER TABLE.
 */
export function conflicts(wanted: string, held: string): string {
  const cases = Object.entries(WAITS_FOR).map(
    ([kind, kinds]) =>
      `when '${kind}' then ${held}.lock_type in (${kinds.map((one) => `'${one}'`).join(', ')})`,
  );
  return `case ${wanted}.lock_type ${cases.join(' ')} else 1 end`;
}
