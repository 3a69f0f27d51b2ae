import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { expect, inject } from 'vitest';
import { makeKeylessAccount, makeMember } from './account.ts';
import { type Answer, toAnswer } from './ask.ts';

export type Role = 'owner' | 'admin' | 'operator' | 'auditor' | 'viewer';

/** A browser with a page of the console: it keeps cookies as one does, and says where a change comes from. */
export interface Browser {
  /** The session's cookie as it would be sent; null before the sign-in. */
  cookie(): string | null;
  /** The cookie that makes the browser a known device; null before a password was given. */
  device(): string | null;
  /** Asks below `/console/api`; a header that is undefined is not sent. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string | undefined>,
  ): Promise<Answer>;
  /** {@link Browser.ask} for what must succeed: the body of the answer. */
  get<T>(path: string): Promise<T>;
  /** {@link Browser.ask} for a change that must succeed: the body of the answer, undefined where there is none. */
  change<T = undefined>(method: string, path: string, body?: unknown): Promise<T>;
}

/** Where a browser is: at the run's service unless `origin` names another, with its base path; `headers` are what a proxy adds to each request. */
interface Place {
  origin?: string;
  headers?: Record<string, string>;
}

/** A browser that is not signed in. */
export function openBrowser({ origin = inject('origin'), headers: always = {} }: Place = {}): Browser {
  // As its address bar has it.
  const own = new URL(origin).origin;
  const page = always['x-forwarded-proto'] === 'https' ? own.replace('http:', 'https:') : own;
  let cookie: string | null = null;
  let device: string | null = null;
  const ask: Browser['ask'] = async (method, path, body, headers = {}) => {
    const changing = method !== 'GET' && method !== 'HEAD';
    const answer = await send(`${origin}/console/api${path}`, method, body, {
      ...(changing ? { origin: page, 'content-type': 'application/json' } : {}),
      ...(cookie === null && device === null ? {} : { cookie: [cookie, device].filter(Boolean).join('; ') }),
      ...always,
      ...headers,
    });
    const [, kept, value] =
      /(?:^|, )((?:__(?:Host|Secure)-)?dbvitals_session)=([^;]*)/.exec(answer.headers['set-cookie'] ?? '') ??
      [];
    if (kept !== undefined) cookie = value === '' ? null : `${kept}=${value}`;
    device =
      /(?:__(?:Host|Secure)-)?dbvitals_device=[^;]*/.exec(answer.headers['set-cookie'] ?? '')?.[0] ?? device;
    expect(answer.headers['x-request-id'], `${method} ${path}`).toMatch(/^[0-9a-f-]{36}$/);
    if (answer.status >= 400) {
      expect(answer.json<{ error: object }>().error).toMatchObject({
        code: expect.any(String),
        message: expect.stringMatching(/^[^\n]+[.]$/),
      });
    }
    return answer;
  };
  const succeed = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(method, path, body);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer;
  };
  return {
    cookie: () => cookie,
    device: () => device,
    ask,
    get: async <T>(path: string) => (await succeed('GET', path)).json<T>(),
    change: async <T>(method: string, path: string, body?: unknown) => {
      const answer = await succeed(method, path, body);
      return (answer.status === 204 ? undefined : answer.json()) as T;
    },
  };
}

function send(
  url: string,
  method: string,
  body: unknown,
  wanted: Record<string, string | undefined>,
): Promise<Answer> {
  const headers = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const length = text === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) };
    const request = http.request(
      url,
      { method, headers: { ...length, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          resolve(toAnswer(response.statusCode ?? 0, response.rawHeaders, Buffer.concat(chunks)));
        });
      },
    );
    request.once('error', reject);
    request.end(text);
  });
}

/** What comes of a stream: `first` once it has begun, `rest` all of it at its end, cut off or not. */
export interface OpenStream {
  first: string;
  /** Reads on. */
  rest(): Promise<{ text: string; whole: boolean }>;
}

/** Opens a stream of the console and reads its first bytes, and nothing more until `rest` is asked for. */
export function openStream(browser: Browser, path: string, origin = inject('origin')): Promise<OpenStream> {
  const url = `${origin}/console/api${path}`;
  return new Promise((resolve, reject) => {
    const request = http.get(
      url,
      { headers: { cookie: browser.cookie() ?? '' }, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          const isFirst = text === '';
          text += chunk;
          if (!isFirst) return;
          response.pause();
          resolve({
            first: text,
            rest: () =>
              new Promise((settle) => {
                response.once('close', () => settle({ text, whole: response.complete })).resume();
              }),
          });
        });
        // A stream that is cut off ends with an error; `whole` tells.
        response.on('error', () => {});
      },
    );
    request.once('error', reject);
  });
}

/** Somebody who is signed in, with what it takes to do so again. */
export interface SignedIn extends Browser {
  memberId: number;
  email: string;
  password: string;
}

/** A new member of the account who opened the link of an invitation, in a browser of their own. */
export async function signInAs(accountId: number, roles: Role[], place: Place = {}): Promise<SignedIn> {
  const email = `${roles.join('-')}-${randomBytes(4).toString('hex')}@example.com`;
  const password = randomBytes(12).toString('base64url');
  const { memberId, linkToken } = await makeMember({
    accountId,
    name: `Test ${roles.join(' ')}`,
    email,
    roles,
  });
  const browser = openBrowser(place);
  await browser.change('POST', `/link/${linkToken}`, { password });
  return { ...browser, memberId, email, password };
}

/** Signs a member in, in an account of their own, when first called; gives the same one from then on. For tests that change nothing. */
export function sharedMember(roles: Role[]): () => Promise<SignedIn> {
  let member: Promise<SignedIn> | undefined;
  return () => (member ??= makeKeylessAccount().then((account) => signInAs(account, roles)));
}
