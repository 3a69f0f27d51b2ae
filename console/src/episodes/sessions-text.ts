import { figure } from '../parts/figure.ts';

/** `1 session`, `14 sessions`. */
export function sessionsText(count: number): string {
  return count === 1 ? '1 session' : `${figure(count)} sessions`;
}
