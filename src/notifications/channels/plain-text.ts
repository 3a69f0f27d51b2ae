// Control and format characters: line ends, what changes the direction of the text around it, and what is invisible.
// The joiners stay, because emoji and scripts are made with them.
const UNPRINTABLE = /(?:(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])+/gu;

/** No text of a message is longer before it is cut for a channel: what follows it costs time for each cut. */
const LONGEST = 20_000;

/** A text of strangers in one line, without control characters and without a change of direction. */
export function plainLine(text: string): string {
  return text.slice(0, LONGEST).toWellFormed().replace(UNPRINTABLE, ' ').replace(/\s+/g, ' ').trim();
}

/** The same with its line ends. */
export function plainBlock(text: string): string {
  const lines = text
    .slice(0, LONGEST)
    .toWellFormed()
    .split(/\r\n|[\n\r\u2028\u2029]/);
  return lines
    .map((line) => line.replace(UNPRINTABLE, ' ').trimEnd())
    .join('\n')
    .trim();
}

const segments = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** A character with more marks than this is nobody's text: it may be cut inside. */
const LARGEST_CHARACTER = 64;

/** At most `most` UTF-16 units of a text, cut between two characters as a reader sees them. A cut text ends in `…`. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  if (most < 1) return '';
  const end = most - 1;
  const begin = Math.max(0, end - LARGEST_CHARACTER);
  const around = segments.segment(text.slice(begin, end + LARGEST_CHARACTER)).containing(end - begin);
  const boundary = around === undefined || around.index === 0 ? end : begin + around.index;
  return `${text
    .slice(0, boundary)
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd()}…`;
}

/**
 * A text as `write` escapes it, in at most `most` UTF-16 units. It is cut before it is escaped, so that no escape is cut in
 * two.
 */
export function cutEscaped(text: string, most: number, write: (text: string) => string): string {
  const whole = write(text);
  if (whole.length <= most) return whole;
  let [fits, over] = [0, Math.min(text.length, most)];
  while (fits < over) {
    const middle = Math.ceil((fits + over) / 2);
    if (write(cutText(text, middle)).length <= most) fits = middle;
    else over = middle - 1;
  }
  return fits === 0 ? '' : write(cutText(text, fits));
}
