import type { Endpoint } from '../../http/endpoint.ts';
import { documented } from '../../http/query-parameters.ts';
import { KEY_PATTERN } from '../../platform/api-key.ts';
import { includes, PLANS } from '../../vocabulary/plans.ts';
import { errorResponses, errorSchemas, failures } from './openapi-errors.ts';
import { EVERY_RESPONSE, HEADERS } from './openapi-headers.ts';
import { hoisted, ref } from './openapi-schemas.ts';

/** The document's own version: each addition raises the second number; the first is the version in the path. */
const VERSION = '1.1.0';

const DESCRIPTION = `A read-only API for the database health, tickets, activity log and team of one account.

**Authentication.** Send an API key as \`Authorization: Bearer <API_KEY>\`. A key can read only the data of its own account. The account's activity log records every request.

**Limits.** Each key has a limit of requests per minute. The default is 30 on Team, 60 on Business and 100 on Enterprise; an Individual account has no API access. The headers of every response show what is left. On 429, wait the number of seconds in \`Retry-After\`, 1 to 60. A client address may fail to authenticate 300 times a minute at each service that it reaches; further failures get 429, and a valid key still works.

**Errors.** All errors have the form \`{"error": {"code", "message"}}\`; a 400 adds \`parameter\`, a 429 \`retry_after\`. Include \`X-Request-Id\` when you ask for help.

**Parameters.** Unknown, repeated and empty parameters are rejected, so a misspelled filter never returns more than you asked for. Names that begin with \`_\` are ignored.

**Lists.** \`page\` starts at 1. \`per_page\` is 50 by default and 100 at most. Follow the \`Link\` header, or \`meta.has_more\`. A list with the parameter \`after\` is read by cursor: its \`next\` link has one, and \`page\` reaches only its first 10,000 records.

**Times** are UTC with milliseconds and a trailing Z. A missing value is \`null\`; its key is always present.

**Methods.** \`HEAD\` is \`GET\` without a body, \`OPTIONS\` returns 204; any other method returns 405 \`method_not_allowed\`.

**Versions.** v1 only grows: new endpoints, optional parameters, fields, and values of open sets (\`x-extensible-enum\`). Anything else needs a v2, and v1 then stays available for 24 months.`;

const GROUPS: Record<string, { name: string; description: string }> = {
  health: {
    name: 'Health',
    description: 'Connections, their health checks, measures and changes, and the fleet',
  },
  ops: { name: 'Ops tickets', description: 'Findings over time, statistics, and alerts' },
  activity: { name: 'Activity log', description: 'Every request and every change of the account' },
  team: { name: 'Team', description: 'Members and roles' },
};

/** An event, as `api/openapi/event-schemas.ts` defines it. */
interface SentEvent {
  kind: string;
  trigger: string;
  schema: object;
}

/** The input of the document. */
export interface Described {
  endpoints: readonly Endpoint[];
  events: readonly SentEvent[];
  /** Real answers, by operationId. */
  answers: Readonly<Record<string, unknown>>;
  /** Examples of the events, by kind. */
  eventExamples: Readonly<Record<string, unknown>>;
}

/** Creates the OpenAPI 3.1 document from the schemas that validate and serialize, and from the error answers. */
export function openapi({ endpoints, events, answers, eventExamples }: Described): Record<string, unknown> {
  const schemas: Record<string, unknown> = {};
  const paths = endpoints.map((endpoint) => [
    `/api/v1${endpoint.path.replace(/:(\w+)/g, '{$1}')}`,
    { get: operation(endpoint, schemas, answers[endpoint.operationId]) },
  ]);
  const webhooks = events.map((event) => [
    event.kind,
    { post: eventOperation(event, schemas, eventExamples[event.kind]) },
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'dbvitals API',
      version: VERSION,
      summary: 'Read-only: database health, tickets, activity and team',
      description: DESCRIPTION,
      contact: { name: 'The operator of this service' },
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '/', description: 'The service that this document comes from' }],
    security: [{ apiKey: [] }],
    tags: Object.values(GROUPS),
    paths: Object.fromEntries(paths),
    webhooks: Object.fromEntries(webhooks),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: KEY_PATTERN.source,
          description: `An API key of the account. It matches \`${KEY_PATTERN.source}\`; the last six characters are a checksum.`,
        },
      },
      schemas: { ...schemas, ...errorSchemas() },
      headers: HEADERS,
      responses: errorResponses(EVERY_RESPONSE),
    },
  };
}

function operation(endpoint: Endpoint, schemas: Record<string, unknown>, example: unknown): object {
  const tagged = endpoint.reuse !== 'unstored';
  const paginated = 'page' in endpoint.query.properties;
  const headers = [...EVERY_RESPONSE, ...(tagged ? ['ETag'] : []), ...(paginated ? ['Link'] : [])];
  const group = endpoint.path.split('/')[1] ?? '';
  const plans = PLANS.filter((plan) => includes(plan, `/api/v1${endpoint.path}`)).map(
    (plan) => plan.charAt(0).toUpperCase() + plan.slice(1),
  );
  return {
    operationId: endpoint.operationId,
    summary: endpoint.summary,
    description: `${endpoint.description}\n\nPlans: ${plans.join(', ')}.`,
    tags: [GROUPS[group]?.name],
    parameters: [
      ...pathParameters(endpoint.path),
      ...queryParameters(endpoint),
      ...(tagged ? [IF_NONE_MATCH] : []),
    ],
    responses: {
      200: {
        description: endpoint.summary,
        headers: headerRefs(headers),
        content: {
          'application/json': {
            schema: hoisted(endpoint.response, schemas),
            ...(example === undefined ? {} : { example }),
          },
        },
      },
      ...(tagged
        ? { 304: { description: 'The client already has this answer.', headers: headerRefs(headers) } }
        : {}),
      ...Object.fromEntries(failures(endpoint.notFound)),
    },
  };
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description:
    'The `ETag` of an answer that the client has. Returns 304 if the answer is unchanged. The request still counts.',
  schema: { type: 'string' },
};

function pathParameters(path: string): object[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: 'Connection identifier.',
    schema: { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    example: 1,
  }));
}

function queryParameters({ query }: Endpoint): object[] {
  return Object.entries(query.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    ...documented(schema),
  }));
}

function headerRefs(names: readonly string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, ref('headers', name)]));
}

function eventOperation(
  { kind, trigger, schema }: SentEvent,
  schemas: Record<string, unknown>,
  example: unknown,
): object {
  return {
    operationId: kind.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary: trigger.replace(/^./, (first) => first.toUpperCase()),
    description:
      'Sent to the destinations of the account that chose it. The form of the payload does not change.',
    'x-status': 'sent',
    security: [],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: hoisted(schema, schemas), example } },
    },
    responses: {
      '2XX': { description: 'The receiver has it.' },
      '4XX': { description: 'The receiver refuses it.' },
    },
  };
}
