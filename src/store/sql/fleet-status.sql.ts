import { SCORE_BANDS } from '../../vocabulary/score-bands.ts';

/** {@link fleetStatus} in SQL, for a column that contains the score. */
export function fleetStatusSql(column: string): string {
  return `case when ${column} is null then 'never_run'
              when ${column} >= ${SCORE_BANDS.healthy} then 'healthy'
              when ${column} >= ${SCORE_BANDS.warning} then 'warning'
              else 'critical' end`;
}
