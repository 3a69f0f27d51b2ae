import { OBJECT_PATTERN } from '../../../../src/vocabulary/entry-objects.ts';
import { dayOrInstant, rangeEnd, rangeStart } from '../../parts/day.ts';
import { idIn, matching, oneOf, present } from '../../parts/search-params.ts';

/** The page's search parameters: its filters, whether the live tail is on, and the open entry. */
export type ActivitySearch = ReturnType<typeof activitySearch>;

const STATUS = /^[1-5](?:xx|\d\d)$/;
const OBJECT = new RegExp(OBJECT_PATTERN);

/** Parses an untrusted URL. */
export function activitySearch(given: Record<string, string>) {
  return present({
    action_type: given['action_type']?.slice(0, 100),
    from: dayOrInstant(given['from']),
    to: dayOrInstant(given['to']),
    /** A member's id. */
    person: idIn(given['person']),
    /** An API key's id. */
    key: idIn(given['key']),
    /** A status, or a class such as 4xx. */
    status: matching(STATUS, given['status']),
    address: given['address']?.slice(0, 50),
    /** Such as `connection:3`. */
    object: matching(OBJECT, given['object']),
    live: oneOf(['1'], given['live']),
    entry: idIn(given['entry']),
  });
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
