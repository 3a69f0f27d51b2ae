import { cleanText, escapeUnprintable, hexOf } from '../platform/text/clean-text.ts';

/** A row to print: column or field name to value. */
type Row = Readonly<Record<string, unknown>>;

/** Prints a list as a JSON array, or as aligned columns with headings. */
export function printList(
  json: boolean | undefined,
  rows: readonly object[],
  columns: readonly string[],
): void {
  process.stdout.write(
    json
      ? jsonLine(rows)
      : table(
          rows.map((row) => ({ ...row })),
          columns,
        ),
  );
}

/** Prints a single row as a JSON object, or as one line per field. */
export function printOne(json: boolean | undefined, thing: object): void {
  process.stdout.write(json ? jsonLine(thing) : fields({ ...thing }));
}

/** A value as JSON in one line: what a terminal would act on or not show is escaped in it, and so means the same. */
export function jsonLine(value: unknown): string {
  const units = (character: string) => character.split('').map((unit) => `\\u${hexOf(unit)}`);
  return `${escapeUnprintable(JSON.stringify(value), (character) => units(character).join(''))}\n`;
}

/** A list as aligned columns with headings. */
export function table(rows: readonly Row[], columns: readonly string[]): string {
  const lines = [
    columns.map((name) => name.replaceAll('_', ' ')),
    ...rows.map((row) => columns.map((name) => cell(row[name]))),
  ];
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map(
      (line) =>
        `${line
          .map((text, column) => text.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function fields(thing: Row): string {
  const width = Math.max(...Object.keys(thing).map((name) => name.length));
  const nextLine = `\n${' '.repeat(width + 2)}`;
  return Object.entries(thing)
    .map(([name, value]) => `${name.replaceAll('_', ' ').padEnd(width)}  ${cell(value, nextLine)}\n`)
    .join('');
}

/** Prints a sentence about what is wrong to standard error, in one line, whatever the texts in it are. */
export function printProblem(sentence: string): void {
  process.stderr.write(`error: ${cell(sentence)}\n`);
}

/** A value as text in one line. What a watched server or a stranger wrote can't move the cursor, reorder the text or look like a line of its own. */
export function cell(value: unknown, nextLine = ' '): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  const lines = (Array.isArray(value) ? value.join(', ') : String(value)).split('\n');
  return lines.map((line) => cleanText(line, Number.POSITIVE_INFINITY)).join(nextLine);
}
