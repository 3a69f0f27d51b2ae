import type { Change, ChangeAccount } from '../../activity/record-entry.ts';
import { everyCheck } from '../../checks/catalogue.ts';
import { within } from '../../database/read.ts';
import { normalisedTag, WRONG_TAG } from '../../vocabulary/values/tags.ts';
import { ConnectionRejected } from '../connection-rejected.ts';
import { requireThresholds, type ThresholdChanges } from '../connection-thresholds.ts';
import { listOverrides } from './list-overrides.ts';

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

/** Throws a {@link ConnectionRejected} for changes that name no threshold, or have a value that is no number from 0 on. */
export function requireThresholdChanges(changes: ThresholdChanges): void {
  const values = Object.values(changes).flatMap((named) => Object.values(named));
  if (values.length === 0) throw new ConnectionRejected('thresholds', 'Name at least one threshold.');
  requireThresholds(changes, everyCheck);
  if (values.some((value) => value !== null && !(value >= 0 && value <= LARGEST_THRESHOLD)))
    throw new ConnectionRejected('thresholds', 'A threshold is a number from 0 to 1e15.');
}

/** A tag as it is stored, or '' for the whole account. Throws a {@link ConnectionRejected} for a text that is none. */
export function requireScope(tag: string | null): string {
  if (tag === null) return '';
  const normalised = normalisedTag(tag);
  if (normalised === null) throw new ConnectionRejected('tag', WRONG_TAG);
  return normalised;
}

/**
 * Sets thresholds of the account (`tag` is '') or of its connections with a tag; null takes one back. Each connection's
 * next run uses them. Returns how many changed. Throws a {@link ConnectionRejected}.
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
  { accountId, client, at, author, record }: Change,
  tag: string,
  changes: ThresholdChanges,
): Promise<number> {
  requireThresholdChanges(changes);
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
  const gone = changed.filter(({ to }) => to === null);
  const kept = changed.filter(({ to }) => to !== null);
  const more = kept.filter(({ from }) => from === null).length - gone.length;
  if (more > 0 && stored.length + more > MOST_OVERRIDES)
    throw new ConnectionRejected(
      'thresholds',
      `An account and its tags set at most ${MOST_OVERRIDES} thresholds: remove some first.`,
    );
  const [ids, names] = [kept.map(({ check_id }) => check_id), kept.map(({ name }) => name)];
  await client.query(set, [accountId, tag, at, author, ids, names, kept.map(({ to }) => to)]);
  await client.query(unset, [
    ...[accountId, tag],
    ...[gone.map(({ check_id }) => check_id), gone.map(({ name }) => name)],
  ]);
  const fields = (value: 'from' | 'to') =>
    Object.fromEntries(changed.map((one) => [`${one.check_id}.${one.name}`, one[value]]));
  record('threshold_changed', THRESHOLDS_PAGE, {
    tag: tag === '' ? null : tag,
    changed: changed.map(({ check_id, name }) => `${check_id}.${name}`),
    ...{ from: fields('from'), to: fields('to') },
  });
  return changed.length;
}
