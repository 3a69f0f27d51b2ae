import type { Check } from './check.ts';

/** The checks of an engine. */
export interface Catalogue {
  checks: readonly Check[];
  /** The finding with the GRANTs that skipped checks need; null if a login sees everything or nothing. */
  privilegeMissing: Pick<Check, 'id' | 'category' | 'title' | 'volatile' | 'maxSeverity'> | null;
  /** The id of the check that fails if the server has no free connection. */
  saturation: string;
}

/** Every check of an engine, with the finding about privileges first. */
export function checksOf({
  privilegeMissing,
  checks,
}: Catalogue): Pick<Check, 'id' | 'category' | 'title' | 'volatile' | 'maxSeverity'>[] {
  return [...(privilegeMissing ? [privilegeMissing] : []), ...checks];
}
