import { ENGINE_FAMILIES } from '../../../../src/vocabulary/engines.ts';
import { matching, oneOf, present } from '../../parts/search-params.ts';

/** The page's search parameters: its view, by default thresholds, what is listed, and the check whose form is open. */
export type ThresholdsSearch = ReturnType<typeof thresholdsSearch>;

const LISTS = [...ENGINE_FAMILIES, 'set'] as const;

/** The checks of an engine, or those with a threshold that somebody has set. */
export type ThresholdList = (typeof LISTS)[number];

const CHECK = /^[A-Z0-9_]{1,60}$/;

/** Parses an untrusted URL. */
export function thresholdsSearch(given: Record<string, string>) {
  return present({
    view: oneOf(['silences'], given['view']),
    /** Part of a check's title or id. */
    q: given['q']?.trim().slice(0, 200),
    list: oneOf(LISTS, given['list']),
    check: matching(CHECK, given['check']),
  });
}
