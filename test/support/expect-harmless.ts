import { expect } from 'vitest';
import type { Check, Judgement } from '../../src/checks/check.ts';
import type { Row } from '../../src/checks/fault.ts';

const MARK = 'touch';

/** What a hostile server puts in the place of a text. */
const TEXTS = [
  String.raw`x; \! touch f`,
  String.raw`x'; \! touch f --`,
  String.raw`x"; \! touch f --`,
  'x`; \\! touch f --',
  String.raw`'x'; \! touch f`,
  String.raw`"x"; \! touch f`,
  '`x`; \\! touch f',
  String.raw`'a\'' ; \! touch f --'`,
  String.raw`E'a\'' ; \! touch f`,
  String.raw`public.x \gexec touch`,
  'public.x CASCADE; touch',
  'x, "y" touch',
  '1 touch',
  'x /* touch',
  "x -- touch'",
  '$$x$$ touch',
  ':touch',
  'x\n\\! touch f',
  'x\r\nsystem touch f',
  'x\u2028\\! touch f',
  'x\0touch',
  '\u202etouch f',
  'delimiter touch',
  '$(touch f)',
  '"$(touch f)"; \\! touch f',
];

/** What it puts behind a real one. */
const ENDS = [String.raw`; \! touch f`, ', y touch', String.raw` '\! touch`];

/** What it puts in the place of a number, a truth value or nothing, for it says itself what type a column has. */
const UNTYPED = [String.raw`1; \! touch f`, String.raw`'x'; \! touch f`, '1 touch'];

const seen = new Set<string>();

/**
 * Expects that no text of a check's judgement has what a hostile server sends outside of quotes, whichever column it is in.
 * `answers` are the rows of its statements as the server sent them; `judge` judges others in their place. Once for each check
 * and kind of rows: it takes a few hundred judgements.
 */
export async function expectHarmless(
  { id }: Pick<Check, 'id'>,
  answers: readonly Row[][],
  judge: (answers: Row[][]) => Promise<Judgement>,
): Promise<void> {
  const columns = [...new Set(answers.flat().flatMap((row) => Object.keys(row)))];
  const kind = `${id} ${columns.join()} ${answers.map((rows) => Math.min(rows.length, 1)).join()}`;
  if (seen.has(kind)) return;
  seen.add(kind);
  for (const column of columns) {
    for (const change of hostileChanges(answers.flat().map((row) => row[column]))) {
      const changed = answers.map((rows) => rows.map((row) => ({ ...row, [column]: change(row[column]) })));
      const judgement = await judge(changed).catch(() => null); // a check that fails says nothing of its rows
      for (const text of judgement ? textsOf(judgement, areWords(columnText(changed, column))) : [])
        expect(unquoted(text), `${id}.${column}: ${text}`).not.toContain(MARK);
    }
  }
}

/** What a hostile server may put in the place of a column's values. */
function hostileChanges(values: unknown[]): ((value: unknown) => unknown)[] {
  if (!values.some(isText)) return UNTYPED.map((text) => () => text);
  return [...TEXTS.map((text) => () => text), ...ENDS.map((end) => (text: string) => text + end)].map(
    (change) => (value) => changedText(value, change),
  );
}

function isText(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.some(isText));
}

function changedText(value: unknown, change: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => changedText(each, change));
  return typeof value === 'string' ? change(value) : value;
}

/** Words that no client acts on where they stand in a sentence, such as `shop/app`. In a statement they are harmful. */
const areWords = (texts: string[]) =>
  texts.every((text) => /^[\w ,.:/-]*$/.test(text) && !text.includes('--'));

function columnText(answers: readonly Row[][], column: string): string[] {
  return answers.flat().flatMap((row) => [row[column]].flat().filter((value) => typeof value === 'string'));
}

/** What people see of a judgement, or of it only what they paste. */
function textsOf(judgement: Judgement, onlyStatements: boolean): string[] {
  if ('skipped' in judgement) return [onlyStatements ? '' : judgement.skipped, judgement.grant ?? ''];
  if (onlyStatements)
    return [...judgement.faults.map(({ remediation }) => remediation), judgement.grant ?? ''];
  const { faults, measures, near = [], passMessage, grant = '' } = judgement;
  return [
    ...faults.flatMap(({ object, metricLine, remediation }) => [object ?? '', metricLine, remediation]),
    ...measures.map(({ object }) => object ?? ''),
    ...near.map((object) => object ?? ''),
    passMessage,
    grant,
  ];
}

// Quotes as psql and mysql read them; an apostrophe follows a letter and opens nothing.
const QUOTED =
  /(?<![\p{L}\p{N}])E'(?:[^'\\]|''|\\.)*'|(?<![\p{L}\p{N}])'(?:[^'\\]|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\b0x[0-9a-f]+/gsu;

/** A text without what is in quotes. */
function unquoted(text: string): string {
  return text.replace(QUOTED, ' ');
}
