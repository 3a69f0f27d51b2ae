import { figure } from '../../../src/platform/text/figure.ts';

export { figure };

/** `1 connection`, `1,200 connections`. */
export function counted(count: number, noun: string): string {
  return `${figure(count)} ${noun}${count === 1 ? '' : 's'}`;
}
