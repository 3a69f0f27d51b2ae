// Control characters, and those that turn the direction of the text around them.
const UNPRINTABLE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]+/gu;

/** A stranger's text made safe for the store, the log and a page: printable, well-formed, at most `length` long. */
export function cleanText(text: string, length: number): string {
  const clean = text.toWellFormed().replace(UNPRINTABLE, ' ').trim();
  return clean.length <= length ? clean : `${clean.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
