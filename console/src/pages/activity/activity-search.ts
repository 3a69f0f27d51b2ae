import { dayOrInstant } from '../../parts/day.ts';

/** The page's search parameters: the API's filters or one API key, whether the live tail is on, and the open entry. */
export interface ActivitySearch {
  action_type?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  live?: '1' | undefined;
  entry?: string | undefined;
  key?: string | undefined;
}

const NUMBER = /^[1-9]\d{0,15}$/;

/** Parses an untrusted URL. */
export function activitySearch(given: Record<string, string>): ActivitySearch {
  const { action_type, live, entry, key } = given;
  const from = dayOrInstant(given['from']);
  const to = dayOrInstant(given['to']);
  return {
    ...(action_type && { action_type: action_type.slice(0, 100) }),
    ...(from && { from }),
    ...(to && { to }),
    ...(live === '1' && { live }),
    ...(entry && NUMBER.test(entry) && { entry }),
    ...(key && NUMBER.test(key) && { key }),
  };
}
