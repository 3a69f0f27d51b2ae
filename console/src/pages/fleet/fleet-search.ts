import { ENGINES, type Engine } from '../../../../src/vocabulary/engines.ts';
import { FLEET_RANGES, type FleetRange } from '../../../../src/vocabulary/fleet-ranges.ts';
import type { FleetStatus } from '../../../../src/vocabulary/score-bands.ts';
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
export interface FleetSearch {
  status?: (typeof STATUS_FILTERS)[number];
  q?: string;
  /** Tags, separated by commas. */
  tags?: string;
  engine?: Engine;
  /** The series of the engine's version, such as 18 or 8.0. */
  version?: string;
  /** A check: only connections with an open ticket of it. */
  check?: string;
  sort?: (typeof SORTS)[number];
  /** The vital sign that a line of each connection shows; by default the score. */
  metric?: string;
  /** Of the lines of a vital sign; by default a day. */
  range?: FleetRange;
  /** The connections as a grid of charts instead of a table. */
  show?: 'charts';
  /** The open dialog: it changes the tags of the listed connections. */
  edit?: 'tags';
}

const VERSION = /^\d{1,4}(?:\.\d{1,4}){0,2}$/;
const CHECK = /^[A-Z0-9_]{1,60}$/;
const METRIC = /^[a-z][a-z0-9_]{0,62}$/;

/** Parses an untrusted URL. */
export function fleetSearch(given: Record<string, string | undefined>): FleetSearch {
  const status = STATUS_FILTERS.find((word) => word === given['status']);
  const sort = SORTS.find((word) => word === given['sort']);
  const q = given['q']?.trim().slice(0, 200);
  const tags = tagsIn(given['tags']);
  const engine = ENGINES.find((word) => word === given['engine']);
  const version = VERSION.test(given['version'] ?? '') ? given['version'] : undefined;
  const check = CHECK.test(given['check'] ?? '') ? given['check'] : undefined;
  const metric = METRIC.test(given['metric'] ?? '') ? given['metric'] : undefined;
  const range = FLEET_RANGES.find((word) => word === given['range']);
  return {
    ...(status && { status }),
    ...(q && { q }),
    ...(sort && { sort }),
    ...(tags && { tags }),
    ...(engine && { engine }),
    ...(check && { check }),
    ...(version && { version }),
    ...(metric && { metric }),
    ...(metric && range && { range }),
    ...(given['show'] === 'charts' && { show: 'charts' }),
    ...(given['edit'] === 'tags' && { edit: 'tags' }),
  };
}
