import { ENGINE_FAMILIES } from '../../../../src/vocabulary/engines.ts';

/** The page's search parameters: its view, what is listed, and the open check. */
export interface ThresholdsSearch {
  /** Default: thresholds. */
  view?: 'silences' | undefined;
  /** Part of a check's title or id. */
  q?: string | undefined;
  list?: ThresholdList | undefined;
  /** The check whose form is open. */
  check?: string | undefined;
}

const LISTS = [...ENGINE_FAMILIES, 'set'] as const;

/** The checks of an engine, or those with a threshold that somebody has set. */
export type ThresholdList = (typeof LISTS)[number];

const CHECK = /^[A-Z0-9_]{1,60}$/;

/** Parses an untrusted URL. */
export function thresholdsSearch(given: Record<string, string>): ThresholdsSearch {
  const q = given['q']?.trim().slice(0, 200);
  const list = LISTS.find((word) => word === given['list']);
  return {
    ...(given['view'] === 'silences' && { view: 'silences' }),
    ...(q && { q }),
    ...(list && { list }),
    ...(given['check'] && CHECK.test(given['check']) && { check: given['check'] }),
  };
}
