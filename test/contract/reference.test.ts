import { expect, test } from 'vitest';
import { makeAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { ask } from './ask.ts';
import { committed, operations } from './openapi-assertions.ts';

const PAGES = [
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs.md', 'text/markdown; charset=utf-8'],
  ['/llms.txt', 'text/plain; charset=utf-8'],
  ['/docs/page.css', 'text/css; charset=utf-8'],
  ['/docs/page.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
] as const;

test.each(PAGES)('%s is served without a key, revalidated, and closed to other hosts', async (path, type) => {
  const answer = await ask(path);
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe(type);
  expect(answer.headers['cache-control']).toBe('public, no-cache');
  expect(answer.headers['x-content-type-options']).toBe('nosniff');
  expect(answer.headers['referrer-policy']).toBe('no-referrer');
  expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
  // Nobody makes the kernel hold many large ones.
  expect(answer.headers['connection']).toBe(answer.bytes.length > 32_768 ? 'close' : 'keep-alive');
  const policy = answer.headers['content-security-policy'] ?? '';
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe/);

  const again = await ask(path, { headers: { 'if-none-match': answer.headers['etag'] ?? '' } });
  expect([again.status, again.text]).toEqual([304, '']);
  const packed = await ask(path, { headers: { 'accept-encoding': 'br' } });
  expect(packed.headers['content-encoding']).toBe(answer.bytes.length < 1024 ? undefined : 'br');
  expect(packed.bytes.length).toBeLessThanOrEqual(answer.bytes.length);
  const head = await ask(path, { method: 'HEAD' });
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers['content-length']).toBe(String(answer.bytes.length));
});

test('/openapi.json is the committed document', async () => {
  expect((await ask('/openapi.json')).text).toBe(committed);
});

test('the page loads nothing but what the service itself serves, and runs no inline script', async () => {
  const page = (await ask('/docs')).text;
  const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? '');
  expect(loaded.length).toBeGreaterThan(4);
  for (const url of loaded.filter((one) => one !== 'data:,')) {
    expect(url).toMatch(/^\/[a-z]/);
    expect((await ask(url)).status, url).toBe(200);
  }
  expect(page).not.toMatch(/<script>|<script [^>]*>[^<]|\son[a-z]+=|<style|style=/);
});

test('what is not under /api/ links to document and page, and an answer of the API only to its pages', async () => {
  const link =
    '</openapi.json>; rel="service-desc"; type="application/json", </docs>; rel="service-doc"; type="text/html"';
  for (const path of ['/', '/nothing', '/livez', '/docs', '/openapi.json']) {
    expect((await ask(path)).headers['link'], path).toBe(link);
  }
  const { key } = await makeAccount();
  expect((await ask('/api/v1/health/connections', { key })).headers['link']).not.toContain('service');
  expect((await ask('/api/v1/health/fleet', { key })).headers['link']).toBeUndefined();
});

test('the Markdown tells every operation, parameter, field, error code and event', async () => {
  const text = (await ask('/docs.md')).text;
  const document = JSON.parse(committed);
  const schemas = Object.entries<{ properties: object }>(document.components.schemas);
  expect(schemas.length).toBeGreaterThan(20);
  for (const { path, parameters } of operations) {
    const start = text.indexOf(`\n### GET ${path}\n`);
    expect(start, path).toBeGreaterThan(0);
    const section = text.slice(start, text.indexOf('\n### GET ', start + 1));
    for (const { name } of parameters) expect(section, path).toContain(`| \`${name}\` |`);
  }
  for (const [name, { properties }] of schemas.filter(([one]) => !/Body$|Event$/.test(one))) {
    const start = text.indexOf(`\n### ${name}\n`);
    expect(start, name).toBeGreaterThan(0);
    const section = text.slice(start, text.indexOf('\n#', start + 1));
    for (const field of Object.keys(properties)) expect(section, name).toContain(`| \`${field}\` |`);
  }
  for (const code of [
    'bad_request',
    'invalid_parameter',
    'unauthorized',
    'invalid_api_key',
    'tier_insufficient',
  ])
    expect(text).toContain(`| \`${code}\` |`);
  for (const code of ['not_found', 'uri_too_long', 'rate_limited', 'headers_too_large', 'internal_error'])
    expect(text).toContain(`| \`${code}\` |`);
  for (const kind of Object.keys(document.webhooks)) expect(text).toContain(`\n### ${kind}\n`);
  expect(text).not.toMatch(/undefined|\[object/);
});

test('reading the reference is not recorded, not even with a key', async () => {
  const { key } = await makeAccount();
  for (const [path] of PAGES) await ask(path, { key });
  expect(JSON.stringify(await readLog(key))).not.toMatch(/docs|openapi|llms/);
});
