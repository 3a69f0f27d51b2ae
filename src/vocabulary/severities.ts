/** The severities of a finding or ticket, the worst first. */
export const SEVERITIES = ['critical', 'warning', 'info'] as const;

export type Severity = (typeof SEVERITIES)[number];

const ranked = `array[${SEVERITIES.map((severity) => `'${severity}'`).join(', ')}]`;

/** SQL: the rank of a severity; the worst is 1. */
export function severityRank(severity: string): string {
  return `array_position(${ranked}, ${severity})`;
}

/** The statuses of a finding, the worst first. A fault has its severity as its status. */
export const FINDING_STATUSES = [...SEVERITIES, 'error', 'skipped', 'ok'] as const;

export type FindingStatus = (typeof FINDING_STATUSES)[number];
