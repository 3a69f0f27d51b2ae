import type { Static, TObject } from 'typebox';
import { isRepeatable, parseParameter } from '../../src/http/query-parameters.ts';

/** The parameters of an endpoint as the edge passes them on, by their text: numbers, points of time, text. */
export function parsedQuery<Query extends TObject>(
  { query }: { query: Query },
  texts: Readonly<Record<string, string | readonly string[] | undefined>>,
): Static<Query> {
  const given = Object.entries(texts).flatMap(([name, text]) => {
    const parameter = query.properties[name];
    const values = [text ?? []].flat().map((each) => parseParameter(parameter, each));
    return text === undefined ? [] : [[name, isRepeatable(parameter) ? values : values[0]]];
  });
  return Object.fromEntries(given);
}
