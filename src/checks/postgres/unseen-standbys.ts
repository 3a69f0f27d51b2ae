import type { Skipped } from '../check.ts';
import { textIn } from '../columns.ts';
import type { Row } from '../fault.ts';

/** Columns for {@link unseenStandbys}: whether the login sees the state of WAL senders. */
export const sight = `pg_has_role('pg_read_all_stats', 'usage') as sees_all,
         quote_ident(current_user) as me`;

/** The judgement for a role that lacks pg_monitor: PostgreSQL silently hides all but the number of WAL senders from it. */
export function unseenStandbys(row: Row): Skipped | undefined {
  if (row['sees_all'] === true) return undefined;
  const grant = `GRANT pg_monitor TO ${textIn(row, 'me')};`;
  return { skipped: 'Not measured: the state of the standbys is hidden.', grant };
}
