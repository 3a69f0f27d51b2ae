import { expect, inject, test } from 'vitest';

const PAGES = [
  '/',
  '/fleet',
  '/connections/7',
  '/connections/new',
  '/tickets',
  '/activity',
  '/keys',
  '/collectors',
  '/team',
  '/account',
  '/sign-in',
  '/sessions',
  '/link/abc',
  '/fleet?status=critical',
  '/fleet/',
];

function get(path: string, headers: Record<string, string> = { accept: 'text/html,*/*;q=0.8' }) {
  return fetch(inject('origin') + path, { headers, redirect: 'manual' });
}

test.each(PAGES)('%s is a page for browsers and 404 for other clients', async (path) => {
  const page = await get(path);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('cache-control')).toBe('no-cache');
  expect(page.headers.get('vary')).toBe('Accept, Accept-Encoding');
  expect(await page.text()).toMatch(/^<!doctype html>/i);
  for (const accept of ['*/*', 'application/json']) {
    const other = await get(path, { accept });
    expect(other.status, accept).toBe(404);
    expect(await other.json()).toMatchObject({ error: { code: 'not_found' } });
  }
});

test.each([
  '/fleets',
  '/index.html',
  '/connections',
  '/link',
  '/assets/',
  '/assets/../package.json',
  '/src/main.ts',
  '/login',
  '/settings',
])('%s is no page: a browser is shown that, everybody else gets JSON', async (path) => {
  const page = await get(path, { accept: 'text/html,*/*;q=0.8', 'if-none-match': '*' });
  expect(page.status).toBe(404);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('vary')).toBe('Accept, Accept-Encoding');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await page.text()).toBe(await (await get('/fleet')).text());
  const other = await get(path, { accept: '*/*' });
  expect(other.status).toBe(404);
  expect(await other.json()).toMatchObject({ error: { code: 'not_found' } });
});

test.each(['/api/v1/nothing', '/api/', '/console/api/nothing', '/console/api/login'])(
  '%s is JSON for a browser too',
  async (path) => {
    const answer = await get(path);
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(await answer.json()).toMatchObject({ error: { code: expect.any(String) } });
  },
);

test('a change of an unknown path gets JSON', async () => {
  const headers = { accept: 'text/html' };
  const answer = await fetch(`${inject('origin')}/login`, { method: 'POST', headers });
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } });
});

test('the page loads nothing from other hosts and runs no inline script', async () => {
  const page = await get('/fleet');
  const policy = new Map(
    (page.headers.get('content-security-policy') ?? '').split('; ').map((rule) => {
      const [name = '', ...sources] = rule.split(' ');
      return [name, sources.join(' ')];
    }),
  );
  expect(Object.fromEntries(policy)).toEqual({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:",
    'font-src': "'self'",
    'connect-src': "'self'",
    'manifest-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'self'",
    'frame-ancestors': "'none'",
  });
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
  const html = await page.text();
  expect(html).not.toMatch(/<style|<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=|https?:\/\//i);
});

const CONTENT_TYPES: Record<string, string> = { js: 'javascript', css: 'css', woff2: 'font/woff2' };

test('assets have a content hash in their name and are cached forever', async () => {
  const html = await (await get('/')).text();
  const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(files.some((path) => path.endsWith('.js'))).toBe(true);
  expect(files.some((path) => path.endsWith('.css'))).toBe(true);
  const sizes: number[] = [];
  for (const path of files) {
    const file = await get(path, { accept: '*/*', 'accept-encoding': 'br' });
    expect(file.status, path).toBe(200);
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const [, ending = ''] = /\.(\w+)$/.exec(path) ?? [];
    expect(file.headers.get('content-type')).toContain(CONTENT_TYPES[ending]);
    const { length } = await file.text();
    expect(length).toBeGreaterThan(0);
    const isCompressed = length >= 1024 && ending !== 'woff2';
    expect(file.headers.get('content-encoding'), path).toBe(isCompressed ? 'br' : null);
    sizes.push(length);
    const tag = file.headers.get('etag') ?? '';
    expect((await get(path, { 'if-none-match': tag })).status, path).toBe(304);
  }
  expect(Math.max(...sizes)).toBeGreaterThan(10_000);
});
