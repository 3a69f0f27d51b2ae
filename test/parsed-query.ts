import type { Static, TObject } from 'typebox';
import { parseParameter } from '../src/http/query-parameters.ts';

/** The parameters of an endpoint as the edge passes them on, by their text: numbers, points of time, text. */
export function parsedQuery<Query extends TObject>(
  { query }: { query: Query },
  texts: Readonly<Record<string, string | undefined>>,
): Static<Query> {
  const given = Object.entries(texts).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, parseParameter(query.properties[name], text)]],
  );
  return Object.fromEntries(given);
}
