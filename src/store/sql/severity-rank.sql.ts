import { SEVERITIES } from '../../vocabulary/severities.ts';

const ranked = `array[${SEVERITIES.map((severity) => `'${severity}'`).join(', ')}]`;

/** SQL: the rank of a severity; the worst is 1. */
export function severityRank(severity: string): string {
  return `array_position(${ranked}, ${severity})`;
}
