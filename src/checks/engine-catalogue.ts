import type { Check } from './check.ts';

/** The checks of an engine. */
export interface Catalogue {
  checks: readonly Check[];
  /** The finding with the GRANTs that skipped checks need. */
  privilegeMissing: Pick<Check, 'id' | 'category' | 'title' | 'volatile' | 'maxSeverity'>;
  /** The id of the check that fails if the server has no free connection. */
  saturation: string;
}
