import { parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as common } from '@zxcvbn-ts/language-common';
import { dictionary as english } from '@zxcvbn-ts/language-en';
import { withoutKnownWords } from './known-words.ts';

/** `known` are words that others know about the person. */
export interface Question {
  password: string;
  known: string[];
}

/** `warning` is one of zxcvbn's keys, such as `topTen`. */
export interface PasswordVerdict {
  strong: boolean;
  warning: string | null;
}

// Measured: 200 characters of leetspeak take 19 s with the package's own limits, 0.14 s with these. A password that is
// strong in its first 64 characters is strong.
const MOST_CHARACTERS = 64;
const MOST_SUBSTITUTIONS = 10;
/** More than a password may have. */
const MOST_WITH_KNOWN_WORDS = 256;

/** More than 10^8 guesses, which the package calls "safely unguessable" against a slow hash. */
const STRONG_SCORE = 3;

const judge = new ZxcvbnFactory({
  dictionary: { ...common, ...english },
  graphs: adjacencyGraphs,
  maxLength: MOST_CHARACTERS,
  l33tMaxSubstitutions: MOST_SUBSTITUTIONS,
});

parentPort?.on('message', ({ password, known }: Question) => {
  parentPort?.postMessage(judgePassword(password, known));
});

function judgePassword(password: string, known: string[]): PasswordVerdict {
  const rate = (text: string) => judge.check(text.slice(0, MOST_CHARACTERS).normalize('NFKC'), known);
  const whole = rate(password);
  if (whole.score < STRONG_SCORE) return { strong: false, warning: whole.feedback.warning };
  const left = withoutKnownWords(password.slice(0, MOST_WITH_KNOWN_WORDS), known);
  const isStrong = left !== '' && rate(left).score >= STRONG_SCORE;
  return { strong: isStrong, warning: isStrong ? null : 'userInputs' };
}
