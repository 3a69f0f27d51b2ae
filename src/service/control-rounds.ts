import { openPool } from '../store/connect.ts';
import type { Cells } from '../store/directory/open-cells.ts';
import { STEP_DEADLINE_MS, startControlRetention } from './retention.ts';

type Options = Omit<Parameters<typeof startControlRetention>[0], 'owner'>;

/** Starts the rounds of the control store; null = it is a cell, whose own rounds do the work. `times` as of {@link startControlRetention}. */
export function startControlRounds(
  { control, hasOwnControl }: Pick<Cells, 'control' | 'hasOwnControl'>,
  options: Options,
  times?: Parameters<typeof startControlRetention>[1],
): { stop(): Promise<void> } | null {
  if (!hasOwnControl) return null;
  const owner = openPool(control.address, 'owner', { max: 1, statementTimeout: STEP_DEADLINE_MS });
  const rounds = startControlRetention({ ...options, owner }, times);
  return {
    async stop() {
      await rounds.stop();
      await owner.end();
    },
  };
}
