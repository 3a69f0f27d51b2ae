import { expect } from 'vitest';
import type { Answer } from './ask.ts';
import type { Failure } from './records.ts';

const STATUS_OF: Record<string, number> = {
  bad_request: 400,
  invalid_parameter: 400,
  unauthorized: 401,
  invalid_api_key: 401,
  tier_insufficient: 403,
  not_found: 404,
  method_not_allowed: 405,
  uri_too_long: 414,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
};

/** Holds an answer to what every answer owes, whatever its status. */
export function expectContract(method: string, path: string, answer: Answer): void {
  const told = `${method} ${path.slice(0, 200)} gave ${answer.status} ${answer.text.slice(0, 300)}`;
  expect(answer.headers['x-request-id'], told).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  // A parameter's name, even one that looks like a key, is told back to the client that sent it.
  if (!path.includes('dbv_live_')) {
    expect(`${JSON.stringify(answer.headers)}${answer.text}`, told).not.toMatch(/dbv_live_[0-9A-Za-z]{10}/);
  }
  if (!/^\/+api\//.test(path)) return;
  expect(answer.headers['date'], told).toBeDefined();
  expectRateHeaders(answer, told);
  if (answer.status === 204) {
    expect(method, told).toBe('OPTIONS');
    expect(answer.text, told).toBe('');
  } else if (answer.status >= 400) {
    expectFailure(method, answer, told);
  } else {
    expectSuccess(method, path, answer, told);
  }
}

function expectRateHeaders({ headers }: Answer, told: string): void {
  const number = (name: string) => {
    expect(headers[name], `${name}: ${told}`).toMatch(/^\d+$/);
    return Number(headers[name]);
  };
  const limit = number('x-ratelimit-limit');
  const remaining = number('x-ratelimit-remaining');
  const reset = number('x-ratelimit-reset');
  const now = Date.now() / 1_000;
  expect(remaining, told).toBeLessThanOrEqual(limit);
  expect(reset, `the reset lies in the past: ${told}`).toBeGreaterThanOrEqual(Math.floor(now));
  expect(reset, told).toBeLessThanOrEqual(Math.ceil(now) + 61);
  expect(headers['ratelimit-policy'], told).toMatch(new RegExp(`^"[^"]+";\\s*q=${limit};\\s*w=60\\b`));
  expect(headers['ratelimit'], told).toMatch(new RegExp(`^"[^"]+";\\s*r=${remaining};\\s*t=\\d+\\b`));
}

function expectFailure(method: string, answer: Answer, told: string): void {
  const { headers, status } = answer;
  expect(headers['cache-control'], told).toBe('no-store');
  expect(headers['etag'], told).toBeUndefined();
  if (status === 401) expect(headers['www-authenticate'], told).toMatch(/^Bearer realm="dbvitals"/);
  if (status === 405) expect(headers['allow'], told).toBe('GET, HEAD, OPTIONS');
  if (status === 429) {
    expect(headers['retry-after'], told).toMatch(/^[1-9]\d?$/);
    expect(Number(headers['retry-after']), told).toBeLessThanOrEqual(60);
    expect(headers['x-ratelimit-remaining'], told).toBe('0');
  }
  expect(headers['content-type'], told).toMatch(/^application\/json\b/);
  if (method === 'HEAD') {
    expect(answer.text, told).toBe('');
    return;
  }
  const body = answer.json<Failure>();
  const { code, message, retry_after, parameter } = body.error;
  expect(STATUS_OF[code], told).toBe(status);
  expect(message, told).toMatch(/^[^\n]{10,300}$/);
  expect(retry_after, told).toBe(status === 429 ? Number(headers['retry-after']) : undefined);
  expect(typeof parameter, told).toBe(code === 'invalid_parameter' ? 'string' : 'undefined');
  expect(Object.keys(body), told).toEqual(['error']);
  expect(['code', 'message', 'retry_after', 'parameter'], told).toEqual(
    expect.arrayContaining(Object.keys(body.error)),
  );
}

function expectSuccess(method: string, path: string, answer: Answer, told: string): void {
  const { headers, status } = answer;
  const activity = /^\/+(?:a|%61)pi\/+v1\/+(?:a|%61)ctivity/.test(path);
  expect([200, 304], told).toContain(status);
  expect(headers['cache-control'], told).toBe(activity ? 'no-store' : 'private, no-cache');
  expect(headers['vary']?.toLowerCase(), told).toMatch(/authorization/);
  expect(headers['vary']?.toLowerCase(), told).toMatch(/accept-encoding/);
  if (activity) expect(headers['etag'], told).toBeUndefined();
  else expect(headers['etag'], told).toMatch(/^"[^"]+"$/);
  if (status === 304 || method === 'HEAD') expect(answer.text, told).toBe('');
  if (status === 200) expect(headers['content-type'], told).toMatch(/^application\/json\b/);
}
