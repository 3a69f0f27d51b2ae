import type { AccountSilences } from '../../../src/console-api/thresholds/silence-list.ts';
import type { OwnThresholds, ThresholdList } from '../../../src/console-api/thresholds/threshold-schemas.ts';
import { read } from '../api.ts';

export const thresholdsQuery = read<ThresholdList>('/thresholds');

/** The connections that set thresholds of a check themselves. */
export function ownThresholdsQuery(check: string) {
  return read<OwnThresholds>('/thresholds/connections', { check });
}

export const silencesQuery = read<AccountSilences>('/silences');
