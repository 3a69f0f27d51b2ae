import type { Change, ChangeAccount } from '../../activity/record-entry.ts';
import { everyCheck } from '../../checks/catalogue.ts';
import { invalidParameter } from '../../platform/rejection.ts';
import { normalisedTag, WRONG_TAG } from '../../platform/text/tags.ts';
import { within } from '../../store/read.ts';
import { requireThresholds, type ThresholdChanges } from '../connection-thresholds.ts';
import { listOverrides } from './list-overrides.ts';
import { requireOrderAtEnd, requireOrderWithin } from './require-order.ts';

/** The most thresholds that an account and its tags set together: each run reads those that concern its connection. */
const MOST_OVERRIDES = 2_000;
/** The largest value of a threshold. */
export const LARGEST_THRESHOLD = 1e15;

const set = `
  insert into threshold (account_id, tag, check_id, name, value, changed_at, changed_by)
  select $1, $2, check_id, name, value, $3, $4
    from unnest($5::text[], $6::text[], $7::float8[]) as t (check_id, name, value)
  on conflict (account_id, tag, check_id, name)
  do update set value = excluded.value, changed_at = excluded.changed_at, changed_by = excluded.changed_by`;

const unset = `
  delete from threshold
   where account_id = $1 and tag = $2 and (check_id, name) in (select * from unnest($3::text[], $4::text[]))`;

/** The page that log entries about thresholds link to. */
const THRESHOLDS_PAGE = '/thresholds';

/** A threshold that changes; null = not set. */
interface ChangedOverride {
  check_id: string;
  name: string;
  from: number | null;
  to: number | null;
}

/** Throws a {@link Rejection} for changes that name no threshold, or have a value that is no number from 0 on. */
export function requireThresholdChanges(changes: ThresholdChanges): void {
  const values = Object.values(changes).flatMap((named) => Object.values(named));
  if (values.length === 0) throw invalidParameter('thresholds', 'Name at least one threshold.');
  requireThresholds(changes, everyCheck);
  if (values.some((value) => value !== null && !(value >= 0 && value <= LARGEST_THRESHOLD)))
    throw invalidParameter('thresholds', 'A threshold is a number from 0 to 1e15.');
  requireOrderWithin(changes);
}

/** A tag as it is stored, or '' for the whole account. Throws a {@link Rejection} for a text that is none. */
export function requireScope(tag: string | null): string {
  if (tag === null) return '';
  const normalised = normalisedTag(tag);
  if (normalised === null) throw invalidParameter('tag', WRONG_TAG);
  return normalised;
}

/**
 * Sets thresholds of the account (`tag` is '') or of its connections with a tag; null takes one back. Each connection's
 * next run uses them. Returns how many changed. Throws a {@link Rejection}.
 */
export function changeOverrides(
  change: ChangeAccount,
  tag: string,
  changes: ThresholdChanges,
): Promise<number> {
  return change((inside) => changeOverridesWithin(inside, tag, changes));
}

/** {@link changeOverrides} inside a change of the account. */
export async function changeOverridesWithin(
  change: Change,
  tag: string,
  changes: ThresholdChanges,
): Promise<number> {
  requireThresholdChanges(changes);
  const { accountId, client, at, author, record } = change;
  const stored = await listOverrides(within(client), accountId);
  const own = new Map(
    stored
      .filter((one) => one.tag === tag)
      .map(({ check_id, name, value }) => [`${check_id}.${name}`, value]),
  );
  const changed = Object.entries(changes)
    .flatMap(([check_id, named]) =>
      Object.entries(named).map(
        ([name, to]): ChangedOverride => ({
          check_id,
          name,
          from: own.get(`${check_id}.${name}`) ?? null,
          to,
        }),
      ),
    )
    .filter(({ from, to }) => from !== to);
  if (changed.length === 0) return 0;
  requireOrderAtEnd(change, { connectionIds: null, tag, checks: { ids: Object.keys(changes) } });
  const gone = changed.filter(({ to }) => to === null);
  const kept = changed.filter(({ to }) => to !== null);
  const more = kept.filter(({ from }) => from === null).length - gone.length;
  if (more > 0 && stored.length + more > MOST_OVERRIDES)
    throw invalidParameter(
      'thresholds',
      `An account and its tags set at most ${MOST_OVERRIDES} thresholds: remove some first.`,
    );
  const [ids, names] = [kept.map(({ check_id }) => check_id), kept.map(({ name }) => name)];
  await client.query(set, [accountId, tag, at, author, ids, names, kept.map(({ to }) => to)]);
  await client.query(unset, [
    accountId,
    tag,
    gone.map(({ check_id }) => check_id),
    gone.map(({ name }) => name),
  ]);
  const fields = (value: 'from' | 'to') =>
    Object.fromEntries(changed.map((one) => [`${one.check_id}.${one.name}`, one[value]]));
  record('threshold_changed', THRESHOLDS_PAGE, {
    tag: tag === '' ? null : tag,
    changed: changed.map(({ check_id, name }) => `${check_id}.${name}`),
    from: fields('from'),
    to: fields('to'),
  });
  return changed.length;
}
