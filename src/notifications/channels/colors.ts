import type { Tone } from './report/report.ts';

/** The colours of chat messages, which stand beside words: no message relies on its colour. */
export const COLORS: Readonly<Record<Tone, string>> = {
  critical: '#c62828',
  warning: '#e6a100',
  info: '#1f6feb',
  over: '#2e7d32',
};
