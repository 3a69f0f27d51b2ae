import type { Engine } from '../../vocabulary/engines.ts';

// The servers replace constants in queries, but not in utility statements, and not in comments. Everything that may hold a
// value goes: strings, numbers and comments, whole or cut off. The order matters: the first pattern that fits wins.

const COMMENT = String.raw`--[^\n\r]*`;
const NUMBER = String.raw`0[xXoObB][0-9a-fA-F_]*|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d*)?`;
/** Both engines take every character beyond ASCII for a letter of a name. */
const LETTER = String.raw`\p{L}_\u{80}-\u{10ffff}`;
const NAME = String.raw`[${LETTER}][${LETTER}\p{N}$]*`;
// A backslash before a quote means two things, as the server is set: then the rest of the text goes.
const STRING = String.raw`'(?:[^'\\]|''|\\(?!')|\\(?=')[\s\S]*)*(?:'|$)`;

const OF_POSTGRES = new RegExp(
  [
    String.raw`(?<comment>${COMMENT}|/\*)`,
    String.raw`(?<value>[eE]'(?:[^'\\]|''|\\[\s\S]|\\$)*(?:'|$)|(?:[uU]&|[nNxXbB])?${STRING})`,
    String.raw`(?<dollar>\$(?:${NAME.replace('$]', ']')})?\$)`,
    String.raw`(?<kept>\$\d+|(?:[uU]&)?"(?:[^"]|"")*(?:"|$)|${NAME})`,
    `(?<number>${NUMBER})`,
    String.raw`(?<rest>\$[${LETTER}\p{N}]*$)`,
  ].join('|'),
  'gu',
);

// Unlike in PostgreSQL, two dashes begin a comment only before a space: `5--'a'` has a string.
const DASHES = String.raw`--(?:[\s\p{Cc}][^\n]*|$)`;
const DOUBLE = String.raw`"(?:[^"\\]|""|\\(?!")|\\(?=")[\s\S]*)*(?:"|$)`;
const OF_MYSQL = new RegExp(
  [
    String.raw`(?<comment>(?:${DASHES})|#[^\n]*|/\*)`,
    String.raw`(?<value>(?:[nNxXbB]|_[a-z0-9]+\s*)?(?:${STRING}|${DOUBLE}))`,
    String.raw`(?<kept>\x60(?:[^\x60]|\x60\x60)*(?:\x60|$)|@{0,2}${NAME})`,
    `(?<number>${NUMBER})`,
  ].join('|'),
  'gu',
);

// A setting takes words without quotes too, as in `set app.token = hunter2`.
const SETTING =
  /^\s*(?:(?:alter|create)\b[\s\S]*?\s)?set\s+(?:(?:session|local|global|persist|persist_only)\s+)?(?:"[^"]*"|[^\s=:"(])+?\s*(?::?=|(?<=[\s"])to\b)\s*/i;

/**
 * A statement without its values: `?` stands for each string and number, and for all that a setting is set to. Comments are
 * left out.
 */
export function redactText(engine: Engine, text: string): string {
  const redacted = redactConstants(engine, text);
  const [setting] = SETTING.exec(redacted) ?? [];
  return setting === undefined ? redacted : `${setting}?`;
}

function redactConstants(engine: Engine, text: string): string {
  const isPostgres = engine === 'postgres';
  const pattern = new RegExp(isPostgres ? OF_POSTGRES : OF_MYSQL);
  let redacted = '';
  let end = 0;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const { comment, dollar, kept } = found.groups ?? {};
    redacted += text.slice(end, found.index);
    if (comment === '/*') pattern.lastIndex = endOfComment(text, found.index, isPostgres);
    if (dollar !== undefined) pattern.lastIndex = endOfText(text, dollar, pattern.lastIndex);
    redacted += kept ?? (comment === undefined ? '?' : ' ');
    end = pattern.lastIndex;
  }
  return redacted + text.slice(end);
}

/** The place behind a comment, which in PostgreSQL may hold others; the end of the text if it is cut off. */
function endOfComment(text: string, from: number, nests: boolean): number {
  // What MySQL runs or not, by its version: there a quote begins a string or none, so the rest of the text goes.
  if (!nests && /^\/\*M?!/.test(text.slice(from, from + 4))) {
    const end = endOfComment(text, from, true);
    return /['"`]/.test(text.slice(from, end)) ? text.length : end;
  }
  const marks = /\/\*|\*\//g;
  marks.lastIndex = from + 2;
  let depth = 1;
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    if (mark[0] === '*/') depth--;
    else if (nests) depth++;
    if (depth === 0) return marks.lastIndex;
  }
  return text.length;
}

/** The place behind the next `mark`; the end of the text if there is none. */
function endOfText(text: string, mark: string, from: number): number {
  const place = text.indexOf(mark, from);
  return place < 0 ? text.length : place + mark.length;
}
