/** The reasons for a silence. */
export const REASONS = [
  { id: 'accepted_risk', label: 'Accepted risk', description: 'The finding is correct, and we accept it.' },
  { id: 'false_positive', label: 'False positive', description: 'The finding does not apply here.' },
  { id: 'wont_fix', label: 'Won’t fix', description: 'The finding is correct, but we will not fix it.' },
  { id: 'maintenance', label: 'Maintenance', description: 'The finding will pass when maintenance ends.' },
] as const;

/** The label of a reason. */
export function reasonText(reason: string): string {
  return REASONS.find(({ id }) => id === reason)?.label ?? reason;
}
