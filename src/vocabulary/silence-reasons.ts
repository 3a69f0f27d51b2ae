/** The reasons of silences, as people say them. */
export const SILENCE_REASONS = {
  accepted_risk: 'accepted risk',
  false_positive: 'false positive',
  wont_fix: 'won’t fix',
  maintenance: 'maintenance',
} as const;

/** Why a finding was silenced. */
export type SilenceReason = keyof typeof SILENCE_REASONS;
