import * as errors from '../errors.ts';
import { ref } from './openapi-schemas.ts';

/** An error in the document: the codes of its status, with examples that the service sends. */
interface Failure {
  name: string;
  status: number;
  description: string;
  examples: readonly errors.ApiError[];
  headers: readonly string[];
}

/** In the 429's example, in seconds. */
const EXAMPLE_WAIT = 37;

const badParameter = new errors.ApiError(
  'invalid_parameter',
  'per_page must be a whole number, 1 to 100.',
  'per_page',
);

const FAILURES: readonly Failure[] = [
  {
    name: 'BadRequest',
    status: 400,
    description: 'A parameter is unknown, repeated, empty or invalid, or the request is malformed HTTP.',
    examples: [badParameter, errors.badRequest],
    headers: [],
  },
  {
    name: 'Unauthorized',
    status: 401,
    description:
      'The request does not have exactly one `Authorization: Bearer <API_KEY>` header, or the key does not exist, has expired or was revoked.',
    examples: [errors.unauthorized, errors.invalidApiKey],
    headers: ['WWW-Authenticate'],
  },
  {
    name: 'Forbidden',
    status: 403,
    description: "The account's plan does not include this endpoint.",
    examples: [errors.tierInsufficient],
    headers: [],
  },
  {
    name: 'NotFound',
    status: 404,
    description: 'The account has no such resource.',
    examples: [errors.resourceNotFound],
    headers: [],
  },
  {
    name: 'UriTooLong',
    status: 414,
    description: 'The URL is over 8 KiB.',
    examples: [errors.uriTooLong],
    headers: [],
  },
  {
    name: 'TooManyRequests',
    status: 429,
    description:
      'The key has reached its limit for this minute, or the address its limit of failed authentications. Wait as long as `Retry-After` says.',
    examples: [errors.rateLimited],
    headers: ['Retry-After'],
  },
  {
    name: 'HeadersTooLarge',
    status: 431,
    description: 'The request headers are over 16 KiB.',
    examples: [errors.headersTooLarge],
    headers: [],
  },
  {
    name: 'InternalError',
    status: 500,
    description: 'The service could not answer. Retry with increasing delays.',
    examples: [errors.internalError],
    headers: [],
  },
];

/** The errors that any operation may answer, by status; 404 only for those that look up a resource. */
export function failures(notFound: string | undefined): [status: string, response: object][] {
  return FAILURES.filter(({ status }) => status !== 404 || notFound !== undefined).map(({ name, status }) => [
    String(status),
    { ...ref('responses', name), ...(status === 404 ? { description: notFound } : {}) },
  ]);
}

/** `components.responses`; `headers` are the headers of every response. */
export function errorResponses(headers: readonly string[]): Record<string, object> {
  return Object.fromEntries(
    FAILURES.map((failure) => [
      failure.name,
      {
        description: failure.description,
        headers: Object.fromEntries(
          [...headers, ...failure.headers].map((name) => [name, ref('headers', name)]),
        ),
        content: {
          'application/json': {
            schema: ref('schemas', `${failure.name}Body`),
            examples: Object.fromEntries(
              failure.examples.map((error) => [error.code, { value: sent(error) }]),
            ),
          },
        },
      },
    ]),
  );
}

function sent(error: errors.ApiError): unknown {
  return JSON.parse(error.envelope(error.status === 429 ? EXAMPLE_WAIT : undefined).toString());
}

/** The envelope of section 7, with a schema for each error. */
export function errorSchemas(): Record<string, object> {
  return Object.fromEntries(FAILURES.map((failure) => [`${failure.name}Body`, envelopeSchema(failure)]));
}

function envelopeSchema({ status, description }: Failure): object {
  const codes = Object.entries(errors.STATUS).flatMap(([code, of]) => (of === status ? [code] : []));
  const wait = { type: 'integer', minimum: 1, maximum: 60, description: 'seconds to wait' };
  const parameter = {
    type: 'string',
    description: 'the invalid parameter; only with invalid_parameter',
  };
  return {
    type: 'object',
    description,
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', ...(status === 429 ? ['retry_after'] : [])],
        properties: {
          code: { type: 'string', enum: codes, description: 'machine-readable code' },
          message: { type: 'string', description: 'human-readable text: one sentence that says what to do' },
          ...(status === 429 ? { retry_after: wait } : {}),
          ...(status === 400 ? { parameter } : {}),
        },
      },
    },
  };
}
