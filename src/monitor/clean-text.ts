// Control characters, and characters that change the direction of the surrounding text.
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]+/gu;

/** Makes untrusted text safe for the store, the log and a page: printable, well-formed, at most `length` long. */
export function cleanText(text: string, length: number): string {
  const clean = text.toWellFormed().replace(UNPRINTABLE, ' ').trim();
  return clean.length <= length ? clean : `${clean.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
