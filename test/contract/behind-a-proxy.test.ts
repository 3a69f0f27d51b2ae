import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { byRequestId, readLog } from './activity-log.ts';
import { openBrowser, signInAs } from './browser.ts';
import { sendRawOnce } from './raw.ts';
import { type Service, startService } from './running-service.ts';

// The proxy is whoever asks from here: the run's own service trusts nobody, this one trusts it and stands below a path.
const BASE = '/tools/dbv';
const account = makeAccount();
let service: Service;
let origin: string;
beforeAll(async () => {
  const settings = { DBVITALS_BASE_PATH: BASE, DBVITALS_TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' };
  service = await startService({ ...inject('sharedStore'), ...settings }, ['--no-monitor']);
  origin = new URL(service.origin).origin;
});
afterAll(() => service?.stop());

async function list(to: string, path: string, ...headers: string[]) {
  const { key } = await account;
  const lines = [
    `GET ${path}/api/v1/health/connections HTTP/1.1`,
    'Host: here.example',
    `Authorization: Bearer ${key}`,
  ];
  const answer = await sendRawOnce(`${[...lines, ...headers].join('\r\n')}\r\nConnection: close\r\n\r\n`, {
    origin: to,
  });
  const entry = byRequestId(await readLog(key)).get(answer.headers['x-request-id']);
  return {
    status: answer.status,
    link: /<([^?]*)\?/.exec(answer.headers['link'] ?? '')?.[1],
    from: entry?.properties['source_ip'],
    path: entry?.page_path,
  };
}

const PATH = '/api/v1/health/connections';
const HEADERS = [
  'X-Forwarded-For: 203.0.113.7, 10.1.2.3',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: db.example.com:8443',
  'X-Forwarded-Prefix: /evil',
];

describe('X-Forwarded-…', () => {
  test('For, Proto and Host are used when they come from a trusted address', async () => {
    expect(await list(origin, BASE, ...HEADERS)).toEqual({
      status: 200,
      link: `https://db.example.com:8443${BASE}${PATH}`,
      from: '203.0.113.7',
      path: PATH,
    });
  });

  test('is ignored from any other address', async () => {
    expect(await list(inject('origin'), '', ...HEADERS)).toEqual({
      status: 200,
      link: `http://here.example${PATH}`,
      from: '127.0.0.1',
      path: PATH,
    });
  });

  test.each([
    ['X-Forwarded-For: 203.0.113.7:40123', '203.0.113.7'],
    ['X-Forwarded-For: [2001:db8::7]:40123', '2001:db8::7'],
    ['X-Forwarded-For: 198.51.100.1, 203.0.113.7', '203.0.113.7'], // the first one is the client's own word
    ['X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-For: 10.9.9.9', '203.0.113.7'],
  ])('%j names %s', async (header, from) => {
    expect(await list(origin, BASE, header)).toMatchObject({ status: 200, from });
  });

  test.each([
    'X-Forwarded-For: unknown',
    'X-Forwarded-For: 203.0.113.7 or so',
    'X-Forwarded-Host: a b',
    'X-Forwarded-Host: db.example.com/path',
    'X-Forwarded-Host: 1.2.3.256',
    'X-Forwarded-Host: 127.0.0.1:99999',
    'X-Forwarded-Host: [::::]',
    'X-Forwarded-Proto: javascript',
  ])('%j is answered 400, in the API and in the console, and fails nobody else', async (header) => {
    const [strange, ...others] = await Promise.all([
      list(origin, BASE, header),
      ...Array.from({ length: 5 }, () => list(origin, BASE)),
    ]);
    expect(strange).toMatchObject({ status: 400, from: undefined });
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const [name = '', value = ''] = header.split(': ');
    const console = await fetch(`${origin}${BASE}/console/api/sign-in`, { headers: { [name]: value } });
    expect(console.status).toBe(400);
  });
});

describe('below a path', () => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(origin + path, { headers, redirect: 'manual' });

  test('the startup banner, and every path with the base path or without it', async () => {
    expect(service.origin).toBe(origin + BASE);
    for (const path of ['/livez', '/readyz', '/docs', '/openapi.json', '/icon.svg']) {
      expect((await get(BASE + path)).status, path).toBe(200);
      expect((await get(path)).status, path).toBe(200);
    }
    expect((await get(`${BASE}x/docs`)).status).toBe(404);
    const { link } = await list(origin, '');
    expect(link).toBe(`http://here.example${BASE}${PATH}`);
  });

  test('every link of a page is below it', async () => {
    for (const [path, count] of [
      ['/connections/7', 8],
      ['/docs', 6],
    ] as const) {
      const page = await get(BASE + path, { accept: 'text/html' });
      expect(page.status).toBe(200);
      expect(page.headers.get('link') ?? `<${BASE}/`).toMatch(new RegExp(`^<${BASE}/`));
      const links = [...(await page.text()).matchAll(/(?:src|href)="(?!data:)([^"]*)"/g)].map(
        ([, to = '']) => to,
      );
      expect(links.length).toBeGreaterThanOrEqual(count);
      for (const to of links) {
        expect(to).toMatch(new RegExp(`^${BASE}/`));
        expect((await get(to)).status, to).toBe(200);
      }
    }
    const document = (await (await get(`${BASE}/openapi.json`)).json()) as { servers: { url: string }[] };
    expect(document.servers.map(({ url }) => url)).toEqual([`${BASE}/`]);
    expect(await (await get(`${BASE}/docs/page.js`)).text()).toContain(`'${BASE}/openapi.json'`);
    const text = await (await get(`${BASE}/llms.txt`)).text();
    for (const named of [`(${BASE}/docs.md)`, `<ORIGIN>${BASE}/api/v1/`]) expect(text).toContain(named);
  });

  test('the session cookie is limited to the path, and links of the console are below it', async () => {
    const { id } = await account;
    const place = { origin: service.origin, headers: { 'x-forwarded-proto': 'https' } };
    const owner = await signInAs(id, ['owner'], place); // keeps its cookie, and acts by it
    const { link } = await owner.change<{ link: { url: string } }>('POST', '/members', {
      name: 'Ada Lovelace',
      email: `${id}.ada@example.com`,
      roles: ['viewer'],
    });
    const home = service.origin.replace('http:', 'https:');
    expect(link.url.slice(0, home.length + 6)).toBe(`${home}/link/`);
    const path = new URL(link.url).pathname.slice(BASE.length);
    const answer = await openBrowser(place).ask('POST', path, {
      name: 'Ada Lovelace',
      password: 'correct horse battery',
    });
    expect(answer.status).toBeLessThan(300);
    const attributes = `Path=${BASE}; HttpOnly; SameSite=Strict; Secure`;
    expect(answer.headers['set-cookie']?.split(', ')).toEqual([
      expect.stringMatching(
        new RegExp(`^__Secure-dbvitals_session=[\\w-]{43}; Max-Age=\\d+; ${attributes}$`),
      ),
      expect.stringMatching(new RegExp(`^__Secure-dbvitals_device=[\\w~-]+; Max-Age=\\d+; ${attributes}$`)),
    ]);
  });
});
