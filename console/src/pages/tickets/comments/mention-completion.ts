/** A name that is being typed after an `@`. */
interface Typed {
  /** Where its `@` is. */
  at: number;
  part: string;
}

/** The longest part of a name that is looked for. */
const LONGEST = 60;
/** The most names that are offered. */
const OFFERED = 6;

/** The name that stands before the caret after an `@`; null if none does. */
export function typedMention(text: string, caret: number): Typed | null {
  const before = text.slice(0, caret);
  const at = before.lastIndexOf('@');
  const part = before.slice(at + 1);
  if (at === -1 || part.length > LONGEST || part.includes('\n') || part.startsWith(' ')) return null;
  // An e-mail address is no mention.
  return /[\p{L}\p{M}\p{N}_]$/u.test(before.slice(0, at)) ? null : { at, part };
}

/** The names that begin with the typed part, then those of which another word does. */
export function completions(names: readonly string[], part: string): string[] {
  const typed = part.toLowerCase();
  const of = (name: string) => name.toLowerCase();
  const first = names.filter((name) => of(name).startsWith(typed));
  const later = names.filter((name) => !first.includes(name) && of(name).includes(` ${typed}`));
  return [...new Set([...first, ...later])].slice(0, OFFERED);
}

/** The text with the typed part completed, and where the caret is then. */
export function completed(text: string, { at, part }: Typed, name: string): { text: string; caret: number } {
  const head = `${text.slice(0, at)}@${name} `;
  return { text: head + text.slice(at + 1 + part.length).replace(/^ /, ''), caret: head.length };
}
