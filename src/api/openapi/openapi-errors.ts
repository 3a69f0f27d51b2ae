import * as errors from '../../http/errors.ts';
import { ERROR_CODES, invalidParameter, type Rejection } from '../../platform/rejection.ts';
import { ref } from './openapi-schemas.ts';

/** An error in the document: the codes of its status, with examples that the service sends. */
interface Failure {
  name: string;
  status: number;
  description: string;
  /** By name: the code, or what else tells two of one code apart. */
  examples: Record<string, Rejection>;
  headers: readonly string[];
}

/** In the 429's example, in seconds. */
const EXAMPLE_WAIT = 37;

const badParameter = invalidParameter('per_page', 'per_page must be a whole number, 1 to 100.');

const FAILURES: readonly Failure[] = [
  {
    name: 'BadRequest',
    status: 400,
    description: 'A parameter is unknown, repeated, empty or invalid, or the request is malformed HTTP.',
    examples: { invalid_parameter: badParameter, bad_request: errors.badRequest },
    headers: [],
  },
  {
    name: 'Unauthorized',
    status: 401,
    description:
      'The request does not have exactly one `Authorization: Bearer <API_KEY>` header, or the key does not exist, has expired or was revoked.',
    examples: { unauthorized: errors.unauthorized, invalid_api_key: errors.invalidApiKey },
    headers: ['WWW-Authenticate'],
  },
  {
    name: 'Forbidden',
    status: 403,
    description: "The account's plan does not include this endpoint.",
    examples: { tier_insufficient: errors.tierInsufficient },
    headers: [],
  },
  {
    name: 'NotFound',
    status: 404,
    description: "The key's scopes do not include this endpoint, or the account has no such resource.",
    examples: { not_found: errors.resourceNotFound, out_of_scope: errors.unknownPath },
    headers: [],
  },
  {
    name: 'UriTooLong',
    status: 414,
    description: 'The URL is over 8 KiB.',
    examples: { uri_too_long: errors.uriTooLong },
    headers: [],
  },
  {
    name: 'TooManyRequests',
    status: 429,
    description:
      'The key has reached its limit for this minute, or the address its limit of failed authentications: 300 a minute with each service. Wait as long as `Retry-After` says, 1 to 60 seconds. Answers to a key far over its limit may take several seconds.',
    examples: { rate_limited: errors.rateLimited },
    headers: ['Retry-After'],
  },
  {
    name: 'HeadersTooLarge',
    status: 431,
    description: 'The request headers are over 16 KiB.',
    examples: { headers_too_large: errors.headersTooLarge },
    headers: [],
  },
  {
    name: 'InternalError',
    status: 500,
    description:
      'The service could not answer. Retry with increasing delays. If the connection to the store was lost while the request was recorded, as in a failover, the activity log may have it with the status that was recorded before.',
    examples: { internal_error: errors.internalError },
    headers: [],
  },
];

const OUT_OF_SCOPE = "The key's scopes do not include this endpoint.";
const ALSO_OUT_OF_SCOPE = "Also the answer if the key's scopes do not include this endpoint.";

/** The errors that any operation may answer, by status. `notFound` says which resource it looks up, if it does. */
export function failures(notFound: string | undefined): [status: string, response: object][] {
  const missing = notFound === undefined ? OUT_OF_SCOPE : `${notFound} ${ALSO_OUT_OF_SCOPE}`;
  return FAILURES.map(({ name, status }) => [
    String(status),
    { ...ref('responses', name), ...(status === 404 ? { description: missing } : {}) },
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
              Object.entries(failure.examples).map(([name, error]) => [name, { value: sent(error) }]),
            ),
          },
        },
      },
    ]),
  );
}

function sent(error: Rejection): unknown {
  return JSON.parse(error.envelope(error.status === 429 ? EXAMPLE_WAIT : undefined).toString());
}

/** The envelope of section 7, with a schema for each error. */
export function errorSchemas(): Record<string, object> {
  return Object.fromEntries(FAILURES.map((failure) => [`${failure.name}Body`, envelopeSchema(failure)]));
}

function envelopeSchema({ status, description, examples }: Failure): object {
  const used = Object.values(examples).map(({ code }) => code);
  const codes = ERROR_CODES.filter((code) => used.includes(code));
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
