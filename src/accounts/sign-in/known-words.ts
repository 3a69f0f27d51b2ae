// Guessers begin with what they know of a person, in every spelling. So these words count for nothing in a password.

/** The product's own name, and what it is about: a password of it is often made of these. */
const PRODUCT = [
  'dbvitals',
  'vitals',
  'database',
  'mariadb',
  'monitoring',
  'mysql',
  'postgres',
  'postgresql',
  'production',
];
const SHORTEST = 3;
/** From this length on, a word without its last letter is still the word. */
const CUT_FROM = 6;

/** The letters that a character is commonly written for. */
const WRITTEN_FOR: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'il',
  '2': 'z',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '6': 'gb',
  '7': 't',
  '8': 'b',
  '9': 'g',
  '@': 'a',
  $: 's',
  '!': 'il',
  '|': 'il',
  '+': 't',
  '(': 'c',
  '€': 'e',
  '£': 'l',
};

/** Letters that no decomposition turns into those of ASCII. */
const FOLDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ð: 'd',
  đ: 'd',
  ł: 'l',
  þ: 'th',
  ı: 'i',
};
/** How the letters are written where a keyboard lacks them, as in `mueller`. */
const SPELLED_OUT: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };

/**
 * The words in what others know about a person: the texts, their words, and each text as one word, so that `Ada Lovelace`
 * gives `adalovelace` too; and those of the product.
 */
export function knownWords(texts: readonly (string | null)[]): string[] {
  const folded = texts.flatMap((text) => (text === null ? [] : [fold(text), fold(spellOut(text))]));
  const words = folded.flatMap((text) => [
    text.replace(/[^\p{L}\p{N}]+/gu, ''),
    ...text.split(/[^\p{L}\p{N}]+/u),
    ...text.split(/[^\p{L}]+/u),
  ]);
  return [...new Set([...words, ...PRODUCT])].filter((word) => [...word].length >= SHORTEST);
}

/**
 * What is left of a password without the known words, also reversed, without their last letter, with letters repeated, with
 * separators between them or with common substitutions such as `4d@`, and without years. Separators beside known words are
 * guessed with them, so they don't stay either.
 */
export function withoutKnownWords(password: string, words: readonly string[]): string {
  const spellings = [...new Set(words.flatMap((word) => [word, withoutLast(word)]))]
    .flatMap((word) => [[...word], [...word].reverse()])
    .toSorted((one, other) => other.length - one.length);
  const whole = fold(password);
  let left = whole;
  for (let before = ''; before !== left; ) {
    before = left;
    for (const letters of spellings) left = removeAll(left, letters);
  }
  left = left.replace(/(?<!\d)(?:19|20)\d\d(?!\d)/g, '');
  return left === whole ? left : left.replace(SEPARATORS, '');
}

function withoutLast(word: string): string {
  const letters = [...word];
  return letters.length < CUT_FROM ? word : letters.slice(0, -1).join('');
}

/** Capitals, marks and compositions don't matter. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^\p{ASCII}]/gu, (letter) => FOLDED[letter] ?? letter);
}

function spellOut(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{ASCII}]/gu, (letter) => SPELLED_OUT[letter] ?? letter);
}

const SEPARATORS = /[^\p{L}\p{N}]+/gu;

const isSeparator = (character: string) => /^[^\p{L}\p{N}]$/u.test(character);
const isWrittenFor = (character: string, letter: string) =>
  character === letter || (WRITTEN_FOR[character]?.includes(letter) ?? false);

function removeAll(text: string, letters: readonly string[]): string {
  const characters = [...text];
  const kept: string[] = [];
  for (let at = 0; at < characters.length; ) {
    const end = endOfWord(characters, at, letters);
    if (end === null) kept.push(characters[at] ?? '');
    at = end ?? at + 1;
  }
  return kept.join('');
}

// Repeated letters at the ends of a word may be those of the next one.
const isWithin = (place: number, letters: readonly string[]) => place > 0 && place < letters.length - 1;

/** Where a word that begins at `start` ends, with separators between its letters, or letters repeated; null if there is none. */
function endOfWord(characters: readonly string[], start: number, letters: readonly string[]): number | null {
  let at = start;
  for (const [place, letter] of letters.entries()) {
    const isHere = () => isWrittenFor(characters[at] ?? '', letter);
    while (at > start && !isHere() && isSeparator(characters[at] ?? '')) at += 1;
    if (!isHere()) return null;
    at += 1;
    if (isWithin(place, letters)) while (letters[place + 1] !== letter && isHere()) at += 1;
  }
  return at;
}
