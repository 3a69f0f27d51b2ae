import type { Read } from '../read.ts';

/** A row: its values as PostgreSQL writes them, in the order of the columns. */
export type TextRow = readonly (string | null)[];

/**
 * SQL: a count, and the rows of a select as one text, for {@link readTexts}. The text costs PostgreSQL and Node less than half as much as
 * the rows, and no value is ambiguous, because PostgreSQL quotes what could end one.
 */
export const countAndTexts = (count: string, select: string): string => `
  select (${count}) as counted, (select string_agg(record::text, '') from (${select}) record) as records`;

/** Reads what a statement of {@link countAndTexts} counts, and its rows. */
export async function readTexts(
  read: Read,
  statement: string,
  values: unknown[],
): Promise<[counted: number, rows: TextRow[]]> {
  const [row] = await read<{ counted: number; records: string | null }>(statement, values);
  return [row?.counted ?? 0, readRecords(row?.records ?? '')];
}

const [QUOTE, COMMA, END] = [34, 44, 41];

/** The rows of PostgreSQL's texts of records, one after the other. */
function readRecords(text: string): TextRow[] {
  const rows: TextRow[] = [];
  let at = 0;
  const readQuoted = () => {
    let from = at + 1;
    let isEscaped = false;
    for (;;) {
      const end = text.indexOf('"', from);
      if (text.charCodeAt(end + 1) !== QUOTE) {
        const value = text.slice(at + 1, end);
        at = end + 1;
        if (isEscaped || value.includes('\\')) return value.replaceAll(/""|\\\\/g, ([first = '']) => first);
        return value;
      }
      isEscaped = true;
      from = end + 2;
    }
  };
  const readPlain = () => {
    const from = at;
    for (let code = text.charCodeAt(at); code !== COMMA && code !== END; ) code = text.charCodeAt(++at);
    return at === from ? null : text.slice(from, at);
  };
  while (at < text.length) {
    const row: (string | null)[] = [];
    do {
      at += 1; // over the bracket or the comma
      row.push(text.charCodeAt(at) === QUOTE ? readQuoted() : readPlain());
    } while (text.charCodeAt(at) === COMMA);
    at += 1;
    rows.push(row);
  }
  return rows;
}
