import type { Engine } from '../../vocabulary/engines.ts';

/** A part of a statement. Comments are left out, and the text of a value is not kept. */
export interface Token {
  /** `name`: a quoted identifier, as it is; `word`: any other one, or a keyword, in lower case; `sign`: one character. */
  kind: 'word' | 'name' | 'value' | 'sign';
  text: string;
}

const WORD = String.raw`[\p{L}_][\p{L}\p{N}_$]*`;

// What may mean two things, such as a backslash in a string, fits no pattern.
const OF_POSTGRES = new RegExp(
  [
    String.raw`(?<blank>\s+|--[^\n]*)`,
    String.raw`(?<comment>/\*)`,
    String.raw`(?<value>(?:[nbxNBX])?'(?:[^'\\]|'')*'|\$\d+|\d[\d.]*(?:[eE][+-]?\d+)?)`,
    String.raw`(?<dollar>\$(?:${WORD.replace('$]', ']')})?\$)`,
    '"(?<name>(?:[^"]|"")+)"',
    `(?<word>${WORD})`,
    `(?<sign>[^'"$])`,
  ].join('|'),
  'suy',
);

/** Of digests, which have no comments and no values. */
const OF_MYSQL = new RegExp(
  [
    String.raw`(?<blank>\s+)`,
    String.raw`(?<value>\?)`,
    '`(?<name>(?:[^`]|``)+)`',
    `(?<word>@{0,2}${WORD})`,
    String.raw`(?<sign>[^'"\x60])`,
  ].join('|'),
  'suy',
);

/** The parts of a statement of PostgreSQL, or of a digest of MySQL; null if it can't be read with certainty. */
export function readTokens(engine: Engine, text: string): Token[] | null {
  const pattern = new RegExp(engine === 'postgres' ? OF_POSTGRES : OF_MYSQL);
  const tokens: Token[] = [];
  while (pattern.lastIndex < text.length) {
    const found = pattern.exec(text)?.groups;
    if (!found) return null;
    const { blank, comment, dollar, value, name, word, sign } = found;
    if (comment !== undefined || dollar !== undefined) {
      const end = comment
        ? endOfComment(text, pattern.lastIndex)
        : endOfText(text, dollar, pattern.lastIndex);
      if (end === null) return null;
      pattern.lastIndex = end;
    }
    if (value !== undefined || dollar !== undefined) tokens.push({ kind: 'value', text: '' });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word.toLowerCase() });
    else if (sign !== undefined && blank === undefined) tokens.push({ kind: 'sign', text: sign });
  }
  return tokens;
}

/** The place behind a comment, which may hold others; null if it does not end. */
function endOfComment(text: string, from: number): number | null {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = from;
  let depth = 1;
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return null;
}

function endOfText(text: string, mark: string | undefined, from: number): number | null {
  const place = mark === undefined ? -1 : text.indexOf(mark, from);
  return mark === undefined || place < 0 ? null : place + mark.length;
}
