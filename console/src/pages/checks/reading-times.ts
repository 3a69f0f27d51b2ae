const TIMES: readonly [string, string][] = [
  ['', 'With each health check'],
  ['300', 'At most every 5 minutes'],
  ['900', 'At most every 15 minutes'],
  ['3600', 'At most every hour'],
  ['21600', 'At most every 6 hours'],
  ['86400', 'At most once a day'],
];

/** How often a statement may run, with the value that is set. */
export function everyChoices(set: string): { id: string; label: string }[] {
  const known = TIMES.some(([id]) => id === set) ? [] : [[set, `At most every ${set} s`] as const];
  // A select's choice needs an id that is not empty.
  return [...TIMES, ...known].map(([id, label]) => ({ id: id || 'run', label }));
}

/** `At most every hour`. */
export function everyText(every: number | null): string {
  const id = every === null ? 'run' : String(every);
  return everyChoices(every === null ? '' : id).find((one) => one.id === id)?.label ?? '';
}
