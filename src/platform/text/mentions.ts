/** The most places of a text that are looked at for a mention. */
const MOST_PLACES = 50;

const WORD = /[\p{L}\p{M}\p{N}_]/u;

/** A part of a text: a mention of `name`, or what stands between mentions. */
export interface TextPart {
  text: string;
  /** As it stands in the list of names; null = no mention. */
  name: string | null;
}

/**
 * Splits a text at its mentions: `@` and one of the names, in any case. The longest name wins. An `@` within a word, as in
 * an e-mail address, and a name that goes on as another word are none.
 */
export function splitMentions(text: string, names: Iterable<string>): TextPart[] {
  const known = [...new Set(names)].filter((name) => name !== '').sort((a, b) => b.length - a.length);
  const parts: TextPart[] = [];
  let done = 0;
  let places = 0;
  for (let at = text.indexOf('@'); at !== -1 && places < MOST_PLACES; at = text.indexOf('@', at + 1)) {
    if (at < done || isWord(text.slice(0, at).slice(-2), -1)) continue;
    places += 1;
    const name = known.find((each) => isAt(text, at + 1, each));
    if (name === undefined) continue;
    if (at > done) parts.push({ text: text.slice(done, at), name: null });
    done = at + 1 + name.length;
    parts.push({ text: text.slice(at, done), name });
  }
  if (done < text.length) parts.push({ text: text.slice(done), name: null });
  return parts;
}

function isAt(text: string, start: number, name: string): boolean {
  const end = start + name.length;
  return text.slice(start, end).toLowerCase() === name.toLowerCase() && !isWord(text.slice(end, end + 2), 0);
}

/** Whether the first (0) or last (-1) character belongs to a word. */
function isWord(text: string, place: 0 | -1): boolean {
  return WORD.test([...text].at(place) ?? '');
}
