import { Rejection } from '../platform/rejection.ts';

export const unauthorized = new Rejection(
  'unauthorized',
  'Send the API key in one header: "Authorization: Bearer <API_KEY>".',
);
export const invalidApiKey = new Rejection(
  'invalid_api_key',
  'This API key does not exist, has expired or was revoked: use a live key of your account.',
);
export const tierInsufficient = new Rejection(
  'tier_insufficient',
  "The account's plan does not include this endpoint: change the plan or use an endpoint that it includes.",
);
export const rateLimited = new Rejection(
  'rate_limited',
  'Too many requests: wait for as many seconds as Retry-After says, then go on.',
);
export const unknownPath = new Rejection('not_found', 'There is no such endpoint: /docs lists all of them.');
export const resourceNotFound = new Rejection(
  'not_found',
  'There is no such resource in your account: check the identifier.',
);
export const methodNotAllowed = new Rejection('method_not_allowed', 'The API is read-only: use GET.');
export const postOnly = new Rejection(
  'method_not_allowed',
  'Send each message of the Model Context Protocol with POST: there are no streams and no sessions.',
);
export const originNotAllowed = new Rejection(
  'origin_not_allowed',
  'Pages of this origin may not use the service: allow it in DBVITALS_CORS_ORIGINS.',
);
export const bodyTooLarge = new Rejection('body_too_large', 'Shorten the message to 64 KiB at most.');
export const noMessage = new Rejection(
  'bad_request',
  'The body is not JSON: send one message of the Model Context Protocol.',
);
export const batch = new Rejection(
  'bad_request',
  'A batch of messages is not supported: send each message with a request of its own.',
);
export const internalError = new Rejection(
  'internal_error',
  'The service could not answer: try again, waiting longer each time.',
);
export const uriTooLong = new Rejection('uri_too_long', 'Shorten the URL to 8 KiB at most.');
export const headersTooLarge = new Rejection(
  'headers_too_large',
  'Shorten the request headers to 16 KiB at most.',
);
export const badRequest = new Rejection(
  'bad_request',
  'This is no well-formed HTTP request: check the client.',
);
