import { SILENCE_REASONS } from '../../vocabulary/silence-reasons.ts';

const CODE = new RegExp(`\\b(?:${Object.keys(SILENCE_REASONS).join('|')})\\b`, 'g');

/** A text of ours with the reasons of silences in words: `silenced: accepted risk`. */
export function reasonInWords(text: string): string {
  return text.replace(CODE, (code) => SILENCE_REASONS[code as keyof typeof SILENCE_REASONS]);
}
