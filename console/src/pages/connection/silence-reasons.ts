import type { Silence } from '../../../../src/console/connections/silences.ts';

/** Why a finding is lived with, in words. */
export const REASONS: { id: Silence['reason']; label: string; description: string }[] = [
  { id: 'accepted_risk', label: 'Accepted risk', description: 'It is true, and we live with it.' },
  { id: 'false_positive', label: 'False positive', description: 'It is not true here.' },
  { id: 'wont_fix', label: 'Won’t fix', description: 'It is true, and stays so.' },
  { id: 'maintenance', label: 'Maintenance', description: 'It passes with work that is under way.' },
];

/** How a reason is called. */
export function reasonWord(reason: Silence['reason']): string {
  return REASONS.find(({ id }) => id === reason)?.label ?? reason;
}
