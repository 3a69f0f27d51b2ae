import type { Fault } from './fault.ts';
import { grouped } from './wording.ts';
import { countOf, faultMeasure } from './worst-measures.ts';

/** Up to so many notes of a check on one schema are listed one by one: each can be silenced on its own. */
const SINGLE = 3;

// A finding's line has 500 characters and its remediation 4,000; the database's name, or a long one, must fit too.
const LINE = 330;
const REMEDIATION = 3_500;

/** What a check calls its notes when it lists them together. */
export interface SchemaNote {
  /** What a schema has several of, such as `foreign keys without an index`. */
  noun: string;
  /** What to do about them. */
  advice: string;
}

/** A fault and the schema of its object, quoted. */
export interface PlacedFault {
  schema: string;
  fault: Fault;
}

/**
 * Says the notes on a schema in one finding if there are more than three: with a count, the worst objects, and their
 * statements. `cut`: there are more than were read. `metric` is that of their count. Faults above info stay as they are.
 */
export function groupBySchema(
  faults: readonly PlacedFault[],
  { noun, advice }: SchemaNote,
  { metric, cut }: { metric: string; cut: boolean },
): Fault[] {
  const notes = Map.groupBy(
    faults.filter(({ fault }) => fault.severity === 'info'),
    ({ schema }) => schema,
  );
  const groups = new Map([...notes].filter(([, own]) => own.length > SINGLE));
  return faults.flatMap(({ schema, fault }): Fault[] => {
    const group = fault.severity === 'info' ? groups.get(schema) : undefined;
    if (!group) return [fault];
    if (group[0]?.fault !== fault) return [];
    const own = group.map((each) => each.fault);
    const named = fitting(
      own.map(({ object }) => object ?? ''),
      ', ',
      LINE - noun.length - advice.length,
    );
    const more = own.length > named.length ? ` and ${grouped(own.length - named.length)} more` : '';
    return [
      {
        severity: 'info',
        object: schema,
        metricLine: `schema ${schema} has ${grouped(own.length)}${cut ? ' or more' : ''} ${noun}: ${named.join(', ')}${more}; ${advice}.`,
        remediation: joinStatements(own),
        measured: faultMeasure({ ...countOf(metric, own.length), object: schema }),
      },
    ];
  });
}

// Statements are put into one line if none ends with a comment, or all end with the same one. If no statement can be
// joined, the first is shown with its own steps.
function joinStatements(faults: readonly Fault[]): string {
  const all = faults.map(({ remediation }) => remediation);
  const comment = commonComment(all);
  const plain = all
    .map((statement) => statement.slice(0, statement.length - comment.length))
    .filter((statement) => statement.endsWith(';') && !statement.includes('--'));
  const shown = fitting(plain, ' ', REMEDIATION - comment.length);
  if (shown.length === 0) return all[0] ?? '';
  const rest = all.length - shown.length;
  const more = rest === 0 ? [] : [`${grouped(rest)} more: run the check again after these`];
  const notes = [...(comment === '' ? [] : [comment.slice(' -- '.length)]), ...more];
  return `${shown.join(' ')}${notes.length === 0 ? '' : ` -- ${notes.join('; ')}`}`;
}

/** The comment that all statements end with, such as ` -- then drop it`; empty if there is none. */
function commonComment(statements: readonly string[]): string {
  const [, comment = ''] = /;( -- [^;]*)$/.exec(statements[0] ?? '') ?? [];
  return statements.every((statement) => statement.endsWith(`;${comment}`)) ? comment : '';
}

/** The first texts that fit into so many characters with their separators. */
function fitting(texts: readonly string[], separator: string, limit: number): string[] {
  const shown: string[] = [];
  let length = 0;
  for (const text of texts) {
    length += text.length + separator.length;
    if (length > limit && shown.length > 0) break;
    shown.push(text);
  }
  return shown;
}
