/** The choice to run with each health check. */
export const EACH_RUN = 'run';

const CHOICES: readonly { id: string; label: string }[] = [
  { id: EACH_RUN, label: 'With each health check' },
  { id: '300', label: 'At most every 5 minutes' },
  { id: '900', label: 'At most every 15 minutes' },
  { id: '3600', label: 'At most every hour' },
  { id: '21600', label: 'At most every 6 hours' },
  { id: '86400', label: 'At most once a day' },
];

/** How often a statement may run: {@link EACH_RUN}, or seconds, with the value that is set. */
export function everyChoices(set: string): readonly { id: string; label: string }[] {
  return CHOICES.some(({ id }) => id === set)
    ? CHOICES
    : [...CHOICES, { id: set, label: `At most every ${set} s` }];
}

/** `At most every hour`. */
export function everyText(every: number | null): string {
  const set = every === null ? EACH_RUN : String(every);
  return everyChoices(set).find(({ id }) => id === set)?.label ?? '';
}
