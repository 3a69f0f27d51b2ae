/** The severities of a finding or ticket, the worst first. */
export const SEVERITIES = ['critical', 'warning', 'info'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** The statuses of a finding, the worst first. A fault has its severity as its status. */
export const FINDING_STATUSES = [...SEVERITIES, 'error', 'skipped', 'ok'] as const;

export type FindingStatus = (typeof FINDING_STATUSES)[number];
