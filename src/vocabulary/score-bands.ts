/** The lowest score of a healthy connection, and of one with a warning; below, it is critical. */
export const SCORE_BANDS = { healthy: 80, warning: 50 } as const;

/** The statuses of a connection in the fleet; `never_run` has no health check. */
export const FLEET_STATUSES = ['healthy', 'warning', 'critical', 'never_run'] as const;

export type FleetStatus = (typeof FLEET_STATUSES)[number];

/** The status of a connection in the fleet; the score is null if it has no health check. */
export function fleetStatus(score: number | null): FleetStatus {
  if (score === null) return 'never_run';
  if (score >= SCORE_BANDS.healthy) return 'healthy';
  return score >= SCORE_BANDS.warning ? 'warning' : 'critical';
}
