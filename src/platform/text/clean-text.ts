// Control characters, and characters that change the direction of the surrounding text.
const UNCLEAN = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]+/gu;

/** Makes untrusted text safe for the store, the log and a page: printable, well-formed, at most `length` long. */
export function cleanText(text: string, length: number): string {
  const clean = text.toWellFormed().replace(UNCLEAN, ' ').trim();
  return clean.length <= length ? clean : `${clean.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/**
 * Characters that are not shown, or that a page or a terminal replaces when a text is copied: control and format
 * characters, and spaces other than the ordinary one. The joiners are left out, because scripts and emoji need them.
 */
export const UNPRINTABLE = /(?![ \u200c\u200d])[\p{Cc}\p{Cf}\p{Z}]/u;

const EACH = new RegExp(UNPRINTABLE, 'gu');

/** A text whose unprintable characters are escaped, but for the ends of lines and tabs. */
export function escapeUnprintable(text: string, encode: (character: string) => string): string {
  return text.replace(EACH, (character) => (/[\n\t]/.test(character) ? character : encode(character)));
}

/**
 * Whether a text that is shown and copied stays the same text. U+FFFD stands for bytes that could not be decoded, so a
 * text with it is not the server's.
 */
export function isPrintable(text: string): boolean {
  return text.isWellFormed() && !UNPRINTABLE.test(text) && !text.includes('\ufffd');
}

/**
 * What somebody else said, in a sentence of ours: one line in quotes that it can't end, so that nobody takes it for our words
 * or for a statement to paste.
 */
export function quotedWords(text: string, length: number): string {
  return `“${cleanText(text.replace(EACH, ' ').replace(/[“”„‟]/g, '"'), length)}”`;
}

/** A name that somebody else gave, in a sentence of ours: in {@link quotedWords} unless it is plain, as of a host or a plugin. */
export function quotedUnlessPlain(name: string, length: number): string {
  return name.length <= length && /^[\w.:/-]+$/.test(name) ? name : quotedWords(name, length);
}

/** A name in quotes with what does not print escaped, as PostgreSQL reads it: `U&"good\000Aone"`. */
export function escapedName(name: string): string {
  const text = name.replaceAll('\\', '\\\\').replaceAll('"', '""').replace(EACH, escaped);
  return `U&"${text}"`;
}

function escaped(character: string): string {
  const code = hexOf(character);
  return code.length > 4 ? `\\+${code.padStart(6, '0')}` : `\\${code}`;
}

/** The character's code: four hexadecimal digits, or more. */
export function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

// In one pass: a pattern of what ends the text would begin anew at each blank within it.
const SEEN = /^[\s\p{Cf}]*(.*[^\s\p{Cf}])?/su;

/** The text without the blanks around it, and marks that nobody sees, such as those that a web page or a chat puts around a copy. */
export function trimUnseen(text: string): string {
  return SEEN.exec(text)?.[1] ?? '';
}
