import { measuredSentence } from '../../../src/platform/text/measured-sentence.ts';
import { reasonInWords } from '../../../src/platform/text/silence-reason-words.ts';
import { local } from './time.tsx';
import { escapeTurning } from './visible-text.ts';

const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z(?![\w.-])/g;

const SILENCED = /^(Silenced(?: until [^(]+)? \()([a-z_]+)(: )/;

/** An instant as a text has it, in the chosen time zone. */
export function localInstants(text: string): string {
  return text.replace(INSTANT, (at) => local(at));
}

/** The measured text of a finding as a sentence, with local times, and with the reason of a silence in words. */
export function readableLine(line: string): string {
  const text = measuredSentence(line).replace(
    SILENCED,
    (_, before: string, reason: string, after: string) => before + reasonInWords(reason) + after,
  );
  return escapeTurning(text.startsWith('Silenced until ') ? localInstants(text) : text);
}
