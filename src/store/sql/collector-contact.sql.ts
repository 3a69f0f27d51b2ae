/** After so many seconds without contact a collector counts as silent: its long poll asks more often. */
const SILENT_SECONDS = 60;

/** SQL: whether a row of `collector`, `of`, had contact in the last `seconds`; null = it never had. */
export const isHeard = (of: string, seconds = SILENT_SECONDS) =>
  `${of}.last_contact_at > now() - interval '${seconds} s'`;
