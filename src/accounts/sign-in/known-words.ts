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

/**
 * The words in what others know about a person: the texts, their words, and each text as one word, so that `Ada Lovelace`
 * gives `adalovelace` too; and those of the product.
 */
export function knownWords(texts: readonly (string | null)[]): string[] {
  const folded = texts.flatMap((text) => (text === null ? [] : [fold(text)]));
  const words = folded.flatMap((text) => [
    text.replace(/[^\p{L}\p{N}]+/gu, ''),
    ...text.split(/[^\p{L}\p{N}]+/u),
    ...text.split(/[^\p{L}]+/u),
  ]);
  return [...new Set([...words, ...PRODUCT])].filter((word) => [...word].length >= SHORTEST);
}

/**
 * What is left of a password without the known words, also reversed, with separators between their letters or with common
 * substitutions such as `4d@`, and without years.
 */
export function withoutKnownWords(password: string, words: readonly string[]): string {
  const spellings = words
    .flatMap((word) => [[...word], [...word].reverse()])
    .toSorted((one, other) => other.length - one.length);
  let left = fold(password);
  for (let before = ''; before !== left; ) {
    before = left;
    for (const letters of spellings) left = removeAll(left, letters);
  }
  return left.replace(/(?<!\d)(?:19|20)\d\d(?!\d)/g, '');
}

/** Capitals, marks and compositions don't matter. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
}

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

/** Where a word that begins at `start` ends, with separators between its letters; null if there is none. */
function endOfWord(characters: readonly string[], start: number, letters: readonly string[]): number | null {
  let at = start;
  for (const letter of letters) {
    while (at > start && !isWrittenFor(characters[at] ?? '', letter) && isSeparator(characters[at] ?? ''))
      at += 1;
    if (!isWrittenFor(characters[at] ?? '', letter)) return null;
    at += 1;
  }
  return at;
}
