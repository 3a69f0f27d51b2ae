import {
  BACKUP_SHRANK,
  BACKUP_STALE,
  type BackupFacts,
  judgeAge,
  judgeSize,
} from '../../checks/backups/backup-checks.ts';
import type { Thresholds } from '../../checks/check.ts';
import type { Measured } from '../nothing-measured.ts';
import { outcomeOf } from '../outcome.ts';
import { cleanMeasures, collectMeasures } from './clean-measures.ts';

/**
 * Adds the checks of backups to what a run measured. They are judged by what was reported to the store, so a server that
 * can't be reached is no excuse. A connection without `facts` has none.
 */
export function withBackups(
  measured: Measured,
  facts: BackupFacts | null,
  thresholds: Readonly<Record<string, Thresholds>>,
): Measured {
  if (!facts) return measured;
  const limits = { ...BACKUP_SHRANK.thresholds, ...thresholds[BACKUP_SHRANK.id] };
  const judged = [
    { check: BACKUP_STALE, samples: [{ database: '', judgement: judgeAge(facts) }] },
    { check: BACKUP_SHRANK, samples: [{ database: '', judgement: judgeSize(facts, limits) }] },
  ];
  return {
    ...measured,
    outcomes: [...measured.outcomes, ...judged.map(({ check, samples }) => outcomeOf(check, samples))],
    measures: [
      ...measured.measures,
      ...cleanMeasures(judged.flatMap(({ check, samples }) => collectMeasures(check, samples))),
    ],
  };
}
