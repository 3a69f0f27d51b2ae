import type { ShownOwnCheck } from '../../../../src/console-api/own-checks/own-check-schemas.ts';
import { thresholdText } from '../../parts/threshold-value.ts';

/** `Warning from 10, critical from 100`. */
export function levelsText({ warning, critical, operator, unit }: ShownOwnCheck): string {
  const from = operator === '>=' ? 'from' : 'down from';
  const words = [
    ...(warning === null ? [] : [`warning ${from} ${thresholdText(warning, unit)}`]),
    ...(critical === null ? [] : [`critical ${from} ${thresholdText(critical, unit)}`]),
  ].join(', ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
