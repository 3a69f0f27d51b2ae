import type { ThresholdChanges } from '../connections/connection-thresholds.ts';
import { UsageError } from './command.ts';

/** Parser of `CHECK_ID.name=number`, repeatable; `CHECK_ID.name=` restores the default. */
export function thresholdsOf(text: string, before: ThresholdChanges = {}): ThresholdChanges {
  const [, id = '', name = '', number = ''] =
    /^([A-Za-z0-9_]+)\.([a-z0-9_]+)=([0-9]{1,15}(?:\.[0-9]{1,9})?)?$/.exec(text) ?? [];
  if (id === '') {
    throw new UsageError(
      '--threshold must be CHECK_ID.name=number, such as PG_DEAD_TUPLES.warning=0.2, or CHECK_ID.name= to restore the default.',
    );
  }
  const check = id.toUpperCase();
  return { ...before, [check]: { ...before[check], [name]: number === '' ? null : Number(number) } };
}
