import { ENGINES } from '../../../../src/vocabulary/engines.ts';
import { FLEET_RANGES } from '../../../../src/vocabulary/fleet-ranges.ts';
import type { FleetStatus } from '../../../../src/vocabulary/score-bands.ts';
import { matching, oneOf, present } from '../../parts/search-params.ts';
import { tagsIn } from '../../parts/tags-in.ts';

/** What the list may be filtered by, what needs attention first. */
export const STATUS_FILTERS = [
  'critical',
  'warning',
  'stale',
  'never_run',
  'healthy',
] as const satisfies readonly (FleetStatus | 'stale')[];
const SORTS = ['worst', 'name', 'score', 'last_checked_at'] as const;

/** The page's search parameters. By default the worst come first. */
export type FleetSearch = ReturnType<typeof fleetSearch>;

const VERSION = /^\d{1,4}(?:\.\d{1,4}){0,2}$/;
const CHECK = /^[A-Z0-9_]{1,60}$/;
const METRIC = /^[a-z][a-z0-9_]{0,62}$/;

/** Parses an untrusted URL. */
export function fleetSearch(given: Record<string, string | undefined>) {
  const metric = matching(METRIC, given['metric']);
  return present({
    status: oneOf(STATUS_FILTERS, given['status']),
    q: given['q']?.trim().slice(0, 200),
    sort: oneOf(SORTS, given['sort']),
    /** Tags, separated by commas. */
    tags: tagsIn(given['tags']),
    engine: oneOf(ENGINES, given['engine']),
    /** A check: only connections with an open ticket of it. */
    check: matching(CHECK, given['check']),
    /** The series of the engine's version, such as 18 or 8.0. */
    version: matching(VERSION, given['version']),
    /** The vital sign that a line of each connection shows; by default the score. */
    metric,
    /** Of the lines of a vital sign; by default a day. */
    range: metric === undefined ? undefined : oneOf(FLEET_RANGES, given['range']),
    /** The connections as a grid of charts instead of a table. */
    show: oneOf(['charts'], given['show']),
    /** The open dialog: it changes the tags of the listed connections. */
    edit: oneOf(['tags'], given['edit']),
  });
}
