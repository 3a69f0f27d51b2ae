import type { Change } from '../../activity/record-entry.ts';
import { findingId, type OwnCheck } from '../../checks/own/own-check.ts';
import { conflict } from '../../platform/rejection.ts';
import { within } from '../../store/read.ts';
import { PAGE_PATHS } from '../../vocabulary/page-paths.ts';
import { requireOrderAtEnd } from '../thresholds/require-order.ts';
import { listOwnChecks, type StoredOwnCheck } from './list-own-checks.ts';
import { storeOwnCheckChanges } from './own-check-changes.ts';
import { requireOwnCheck } from './own-check-rules.ts';

/** The most own checks of an account: each run loads those of its connection. */
export const MOST_OWN_CHECKS = 50;

/** The page that log entries about own checks link to. */
export const OWN_CHECKS_PAGE = PAGE_PATHS.checks;

const set = `
  insert into own_check (account_id, id, title, engine, database, sql, unit, operator, warning, critical, remediation, every,
                         timeout, tags, changed_at, changed_by)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
  on conflict (account_id, id)
  do update set title = excluded.title, engine = excluded.engine, database = excluded.database, sql = excluded.sql,
                unit = excluded.unit, operator = excluded.operator, warning = excluded.warning,
                critical = excluded.critical, remediation = excluded.remediation, every = excluded.every,
                timeout = excluded.timeout, tags = excluded.tags, changed_at = excluded.changed_at,
                changed_by = excluded.changed_by`;

/**
 * Adds an own check, or changes the one of its id; the next run of each of its connections uses it. Returns how it is stored.
 * Throws a {@link Rejection}, at the end of the change too.
 */
export async function setOwnCheck(
  change: Change,
  wanted: OwnCheck,
  actor: Record<string, unknown> = {},
): Promise<StoredOwnCheck> {
  const own = requireOwnCheck(wanted);
  const { accountId, client, at, author, record } = change;
  const stored = await listOwnChecks(within(client), accountId);
  const before = stored.find(({ id }) => id === own.id);
  if (!before && stored.length >= MOST_OWN_CHECKS)
    throw conflict(null, `An account has at most ${MOST_OWN_CHECKS} own checks: remove one.`);
  const fields = ownCheckFields(own);
  const changed = Object.keys(fields).filter(
    (name) =>
      before === undefined || JSON.stringify(ownCheckFields(before)[name]) !== JSON.stringify(fields[name]),
  );
  if (before && changed.length === 0) return before;
  await client.query(set, [accountId, own.id, ...Object.values(fields), at, author]);
  const pick = (of: Record<string, unknown>) => Object.fromEntries(changed.map((name) => [name, of[name]]));
  const named = { check_id: findingId(own.id), title: own.title };
  if (before) {
    const values = { changed, from: pick(ownCheckFields(before)), to: pick(fields) };
    record('own_check_changed', OWN_CHECKS_PAGE, { ...named, ...values, ...actor });
  } else record('own_check_added', OWN_CHECKS_PAGE, { ...named, to: fields, ...actor });
  await storeOwnCheckChanges(change, before ?? null, own);
  // Thresholds may have been set for it, also before it was added.
  requireOrderAtEnd(change, { connectionIds: null, tag: '', checks: { ids: [findingId(own.id)] } });
  return { ...own, changed_at: new Date(at), changed_by: author };
}

/** What a definition says besides its id, in the order of the statement. Times are seconds. */
export function ownCheckFields(own: OwnCheck): Record<string, unknown> {
  const { title, engine, database, sql, unit, operator, warning, critical, remediation } = own;
  const { every, timeout, tags } = own;
  return {
    title,
    engine,
    database,
    sql,
    unit,
    operator,
    warning,
    critical,
    remediation,
    every,
    timeout,
    tags,
  };
}
