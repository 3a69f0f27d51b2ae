import { figure } from '../../../src/platform/text/figure.ts';

export { figure };

/** `1 connection`, `1,200 connections`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${figure(count)} ${count === 1 ? noun : plural}`;
}
