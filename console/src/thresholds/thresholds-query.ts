import type { AccountSilences } from '../../../src/console-api/thresholds/silence-list.ts';
import type { OwnThresholds, ThresholdList } from '../../../src/console-api/thresholds/threshold-schemas.ts';
import { read } from '../api.ts';
import { useRenew } from '../parts/use-action.ts';

export const thresholdsQuery = read<ThresholdList>('/thresholds');

/** The connections that set thresholds of a check themselves. */
export function ownThresholdsQuery(check: string) {
  return read<OwnThresholds>('/thresholds/connections', { check });
}

export const silencesQuery = read<AccountSilences>('/silences');

/** Reads what a change of thresholds or silences may have changed again. */
export function useRefreshThresholds(): () => Promise<void> {
  return useRenew(['thresholds', 'silences', 'connections', 'fleet', 'tickets']);
}
