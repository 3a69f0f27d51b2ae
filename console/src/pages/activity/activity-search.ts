import { OBJECT_PATTERN } from '../../../../src/vocabulary/entry-objects.ts';
import { dayOrInstant, rangeEnd, rangeStart } from '../../parts/day.ts';

/** The page's search parameters: its filters, whether the live tail is on, and the open entry. */
export interface ActivitySearch {
  action_type?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  /** A member's id. */
  person?: string | undefined;
  /** An API key's id. */
  key?: string | undefined;
  /** A status, or a class such as 4xx. */
  status?: string | undefined;
  address?: string | undefined;
  /** Such as `connection:3`. */
  object?: string | undefined;
  live?: '1' | undefined;
  entry?: string | undefined;
}

const NUMBER = /^[1-9]\d{0,14}$/;
const STATUS = /^[1-5](?:xx|\d\d)$/;
const OBJECT = new RegExp(OBJECT_PATTERN);

/** Parses an untrusted URL. */
export function activitySearch(given: Record<string, string>): ActivitySearch {
  const { action_type, person, key, status, address, object, live, entry } = given;
  const from = dayOrInstant(given['from']);
  const to = dayOrInstant(given['to']);
  return {
    ...(action_type && { action_type: action_type.slice(0, 100) }),
    ...(from && { from }),
    ...(to && { to }),
    ...(person && NUMBER.test(person) && { person }),
    ...(key && NUMBER.test(key) && { key }),
    ...(status && STATUS.test(status) && { status }),
    ...(address && { address: address.slice(0, 50) }),
    ...(object && OBJECT.test(object) && { object }),
    ...(live === '1' && { live }),
    ...(entry && NUMBER.test(entry) && { entry }),
  };
}

/** Whether a filter is set for which the log has no index, so that it must be searched. */
export function isSearched({ person, key, status, address, object }: ActivitySearch): boolean {
  return [person, key, status, address, object].some((value) => value !== undefined);
}

/** The filters as the console's API takes them. */
export function filterQuery({ action_type, from, to, person, key, status, address, object }: ActivitySearch) {
  return {
    action_type,
    from: rangeStart(from),
    to: rangeEnd(to),
    member_id: person,
    key_id: key,
    status,
    address,
    object,
  };
}
