import fc from 'fast-check';
import type { Endpoint } from '../../src/http/endpoint.ts';
import { cursorMark, writeCursor } from '../../src/http/keyset.ts';
import { documented, isRepeatable } from '../../src/http/query-parameters.ts';

/** Whom the questions are about. */
interface Subjects {
  accountId: number;
  /** The account's own connection, and one that it does not have. */
  connections: readonly [own: number, foreign: number];
}

/** A request to an endpoint. */
export interface Question {
  endpoint: Endpoint;
  /** Of the path; '' if it has none. */
  id: number | '';
  /** Such as `page=2&tag=pci`. */
  asked: string;
}

// Fixed, so that an answer depends on nothing but the data. What the account measures now lies behind the end.
const NOW = Date.now();
const HOUR_AGO = new Date(NOW - 3_600_000).toISOString();
const LATE = '2090-01-01T00:00:00.000000Z';
const MANY = 900_000_000_000;

/** Values of the parameters that are not enumerated by their schema. A new parameter needs a line here. */
function listValues(
  { path }: Endpoint,
  name: string,
  { accountId, connections }: Subjects,
): string[] | undefined {
  const [own, foreign] = connections;
  const cursors: Record<string, [list: string, places: (string | number)[][]]> = {
    '/health/connections/:id/changes': [
      `changes of ${own}`,
      [
        [LATE, MANY],
        [HOUR_AGO.replace('Z', '000Z'), 0],
      ],
    ],
    '/health/changes': [
      'fleet changes',
      [
        [LATE, MANY],
        [HOUR_AGO.replace('Z', '000Z'), 0],
      ],
    ],
    '/ops/alerts': [
      'alerts',
      [
        [LATE, MANY],
        [HOUR_AGO.replace('Z', '000Z'), 0],
      ],
    ],
    '/health/measures': [
      'fleet measures',
      [
        [0, 0],
        [own, 1],
        [foreign - 1, MANY],
      ],
    ],
    '/ops/tickets': ['tickets', [[MANY], [5]]],
  };
  const cursor = ([list, places]: [string, (string | number)[][]] = ['none', [[0]]]) =>
    places.map((place) => writeCursor(cursorMark(list, accountId), place));
  const ids = [own, foreign, 1].map(String);
  const values: Record<string, string[]> = {
    page: ['1', '2', '90'],
    per_page: ['1', '7', '100'],
    tag: ['pci', 'env:production'],
    connection_id: ids,
    check_id: ['PG_DEAD_TUPLES', 'PG_BLOCKED_SESSIONS', 'CONN_UNREACHABLE'],
    from: ['2020-01-01', new Date(NOW - 8 * 86_400_000).toISOString()],
    to: [HOUR_AGO, new Date(NOW - 2 * 86_400_000).toISOString()],
    updated_since: ['2020-01-01', HOUR_AGO],
    after_update: cursor(['ticket updates', [[0], [9]]]),
    after: [...cursor(cursors[path]), ...cursor(['latest ticket updates', [[MANY]]])],
    action_type: ['api_request', 'health_check_completed', 'sample_data_added'],
    exclude_action_type: ['api_request', 'ticket_opened'],
    after_id: ['0', '40', String(MANY)],
    metric: ['connections_used_ratio', 'cache_hit_ratio', 'database_bytes'],
    database: ['app', 'none'],
    object: ['public.orders', 'none'],
    step: ['run', '5m', '1h', '1d'],
  };
  return values[name];
}

/** The values of a parameter: those that its schema lists, or else those above. Throws for a parameter with neither. */
function listChoices(endpoint: Endpoint, name: string, subjects: Subjects): string[] {
  const schema = endpoint.query.properties[name];
  if (schema === undefined) throw new Error(`${endpoint.path} has no ${name}`);
  const { schema: told, description } = documented(schema);
  if (Array.isArray(told['enum'])) return told['enum'];
  if (name === 'include') {
    const parts = [...description.matchAll(/`(\w+)`/g)].map(([, part = '']) => part);
    return [...parts, parts.join(',')];
  }
  const values = listValues(endpoint, name, subjects);
  if (values === undefined) throw new Error(`Add values of ${name} to random-questions.ts.`);
  return values;
}

/** Parameters without which an answer depends on the time, or is refused. */
const NEEDED: Record<string, readonly string[]> = {
  '/health/connections/:id/measures/history': ['metric', 'from', 'to'],
  '/health/connections/:id/queries': ['from', 'to'],
  '/health/measures': ['metric'],
};

/** Random combinations of all parameters of each endpoint, `count` of them, the same for the same subjects. */
export function randomQuestions(
  endpoints: readonly Endpoint[],
  subjects: Subjects,
  count: number,
): Question[] {
  return endpoints.flatMap((endpoint) => {
    const names = Object.keys(endpoint.query.properties);
    const parameter = (name: string): fc.Arbitrary<string[]> => {
      const choices = listChoices(endpoint, name, subjects);
      const one = fc.constantFrom(...choices).map((value) => [value]);
      const several = isRepeatable(endpoint.query.properties[name])
        ? fc.oneof(one, fc.constant(choices.slice(0, 2)))
        : one;
      const isNeeded = NEEDED[endpoint.path]?.includes(name) === true;
      return isNeeded ? several : fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, several);
    };
    const asked = fc
      .tuple(...names.map(parameter))
      .map((chosen) =>
        chosen
          .flatMap((values, n) => values.map((value) => `${names[n]}=${encodeURIComponent(value)}`))
          .join('&'),
      );
    const ids = endpoint.path.includes(':id') ? [...subjects.connections] : ([''] as const);
    const some = fc.sample(asked, { numRuns: count, seed: 38 });
    const all = endpoint.path in NEEDED ? some : ['', ...some];
    return ids.flatMap((id) => all.map((text): Question => ({ endpoint, id, asked: text })));
  });
}
