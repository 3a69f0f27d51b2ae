const RATE = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

/** The headers of every response under `/api/`. */
export const EVERY_RESPONSE = [...RATE, 'X-Request-Id', 'Cache-Control', 'Vary', 'X-Content-Type-Options'];

const ALWAYS = { required: true };

const text = (description: string, example: string, more: object = {}) => ({
  description,
  schema: { type: 'string', ...more },
  example,
});
const integer = (description: string, minimum: number, example: number, more: object = {}) => ({
  description,
  schema: { type: 'integer', minimum, ...more },
  example,
});

/** `components.headers`. For a request without a valid key, the limits are those of its address. */
export const HEADERS = {
  'X-RateLimit-Limit': { ...ALWAYS, ...integer('Requests per minute that the key may send.', 0, 60) },
  'X-RateLimit-Remaining': { ...ALWAYS, ...integer('Requests left in this window.', 0, 59) },
  'X-RateLimit-Reset': {
    ...ALWAYS,
    ...integer('When the window ends: Unix time in seconds, rounded up.', 0, 1772446560, { format: 'int64' }),
  },
  'RateLimit-Policy': text(
    'The limit in the format of the IETF draft: quota, and window in seconds.',
    '"default";q=60;w=60',
  ),
  RateLimit: text(
    'What is left, in the format of the IETF draft: requests, and seconds until the window ends.',
    '"default";r=59;t=37',
  ),
  'Retry-After': integer('Whole seconds to wait. A request after this time is accepted.', 1, 37, {
    maximum: 60,
  }),
  'X-Request-Id': {
    ...ALWAYS,
    ...text(
      "Identifies the request in the activity log and in the service's log.",
      '0b2f4c1e-6f1d-4d0a-9a52-2f6f0c9e7a11',
      { format: 'uuid' },
    ),
  },
  'Cache-Control': text(
    '`private, no-cache`: revalidate with `If-None-Match`. `no-store` on errors and activity.',
    'private, no-cache',
  ),
  Vary: text('The request headers that the answer depends on.', 'Authorization, Accept-Encoding'),
  'X-Content-Type-Options': text('Always `nosniff`.', 'nosniff'),
  ETag: text('A strong entity tag. It can differ by `Content-Encoding`.', '"0lD1pNGQ-hPcNsbgj9sNsCbjLQv"'),
  Link: text(
    'RFC 8288: absolute URLs `first`, `prev`, `next` and `last`; `next` only while more pages follow.',
    '<https://dbvitals.example.com/api/v1/health/connections?page=2&per_page=50>; rel="next"',
  ),
  'WWW-Authenticate': text(
    'RFC 6750: `error="invalid_token"` if the request has a token that is not a valid key.',
    'Bearer realm="dbvitals", error="invalid_token"',
  ),
};
