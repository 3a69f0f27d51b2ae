import { DbvitalsError, type ErrorDetails } from './error.ts';

/** Refuses what is no answer of the API by its head: a redirect, which would carry the key elsewhere, or another form than JSON. */
export function checkHead(response: Response): void {
  const { status, type } = response;
  // What a browser makes of a redirect has neither status nor headers.
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw new DbvitalsError(
      'redirected',
      `The answer redirects to ${target(response)}: give the address at which the API itself answers; the key is sent nowhere else.`,
      detailsOf(response),
    );
  }
  const form = response.headers.get('content-type') ?? 'no content type';
  if (/^application\/json\b/i.test(form)) return;
  throw notDbvitals(response, `with ${form.split(';', 1)[0]}`);
}

/** The answer's body, which must be an object with `data`. */
export function checkBody<Body extends object>(body: Body | undefined, response: Response): Body {
  if (body === undefined) throw cutShort(response);
  if (typeof body === 'object' && body !== null && 'data' in body) return body;
  throw notDbvitals(response, 'in another form');
}

/** The failure that the body of a status of 400 and over tells of. */
export function failure(body: unknown, response: Response): DbvitalsError {
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
  const { code, message, parameter } = error;
  if (typeof code !== 'string' || typeof message !== 'string')
    return notDbvitals(response, 'in another form');
  return new DbvitalsError(code, message, {
    ...detailsOf(response),
    parameter: typeof parameter === 'string' ? parameter : null,
  });
}

/** The failure of an answer whose body ends before its end, or is empty. */
export function cutShort(response: Response, cause?: unknown): DbvitalsError {
  return new DbvitalsError(
    'cut_short',
    'The answer broke off: try again, and look at the proxies on the way.',
    {
      ...detailsOf(response),
      cause,
    },
  );
}

function notDbvitals(response: Response, how: string): DbvitalsError {
  const advice =
    response.status >= 500
      ? 'try again later, or look at the proxy before the service'
      : 'give the address of the service, what comes before /api/v1';
  const message = `What answered ${response.status} ${how} is not the dbvitals API: ${advice}.`;
  return new DbvitalsError('not_dbvitals', message, detailsOf(response));
}

function detailsOf({ status, headers }: Response): ErrorDetails {
  return {
    status,
    requestId: headers.get('x-request-id'),
    retryAfter: secondsOf(headers.get('retry-after')),
  };
}

/** Retry-After is seconds or, from some proxies, a date (RFC 9110, section 10.2.3). */
function secondsOf(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text);
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? null : Math.max(0, Math.ceil((instant - Date.now()) / 1_000));
}

/** Only the origin: the rest may hold what is no one's business. */
function target({ headers, url }: Response): string {
  const location = headers.get('location');
  return location !== null && URL.canParse(location, url) ? new URL(location, url).origin : 'elsewhere';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
