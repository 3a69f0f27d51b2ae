/** The ranges of the fleet's lines: an hour, a day, 7 days, 30 days, 13 months. */
export const FLEET_RANGES = ['1h', '24h', '7d', '30d', '13mo'] as const;

export type FleetRange = (typeof FLEET_RANGES)[number];
