import type pg from 'pg';
import { pino } from 'pino';
import { expect } from 'vitest';
import { insertSession, nameMember } from '../../test/support/console-reads.ts';
import type { TestStore } from '../../test/support/store.ts';
import { RequestLog } from '../api/request/request-log.ts';
import { hashToken, newToken } from '../platform/token.ts';
import { openPool } from '../store/connect.ts';
import { oneStore } from '../store/directory/console-stores.ts';
import { one } from '../store/one.ts';
import { createConsole } from './console.ts';
import type { ConsoleParts } from './route.ts';
import { changeInTurn } from './turns/in-turn.ts';

/** The console of a store, for requests of owners and other members. */
export interface TestConsole {
  /** A new account with a signed-in owner: its id, and a function that reads a route's path and returns status and body. */
  owner(): Promise<Owner>;
  /** Another member of an account, signed in, with one role. */
  member(accountId: number, name: string, role: string): Promise<Owner>;
  close(): Promise<void>;
}

export interface Owner {
  accountId: number;
  memberId: number;
  /** The body of a 200. */
  read<Body>(path: string): Promise<Body>;
  /** The text of a 200. */
  readText(path: string): Promise<string>;
  /** Status, code, message and parameter of an error. */
  refused(path: string): Promise<unknown[]>;
  /** Sends a change; the status and the body, or the code and parameter of an error. */
  send<Body>(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<[status: number, body: Body]>;
}

/** The console of a store that reads by `reader`. */
export function consoleOn(store: TestStore, reader: pg.Pool, verify: ConsoleParts['verify']) {
  const log = pino({ level: 'silent' });
  return createConsole({
    log,
    requestLog: new RequestLog(log),
    control: store.writer,
    controlReader: reader,
    stores: oneStore({ writer: store.writer, reader }),
    inTurn: changeInTurn,
    verify,
    secret: store.deps.secret,
    allowPrivateTargets: true,
    tokenCommands: {},
    allowConsoleSockets: true,
    allowPrivateDestinations: false,
    hasMail: true,
    basePath: '',
    publicUrl: null,
    passkeyOrigin: () => 'http://localhost',
    singleSignOn: null,
    measure: () => {},
    closing: new AbortController().signal,
  });
}

export async function openTestConsole(store: TestStore): Promise<TestConsole> {
  const reader = openPool(store.address, 'console', { max: 2, pipeline: true });
  const app = await consoleOn(store, reader, () => Promise.reject(new Error('not in this test')));
  const ask = (
    token: string,
    path: string,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE' = 'GET',
    body?: object,
  ) =>
    app.inject({
      method,
      url: `/console/api${path}`,
      headers: {
        'dbvitals-caller': JSON.stringify({
          requestId: 'x',
          address: '127.0.0.1',
          origin: 'http://localhost',
        }),
        cookie: `dbvitals_session=${token}`,
        ...(method !== 'GET' && { origin: 'http://localhost' }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const join = async (accountId: number, email: string, [name, role]: [string, string]): Promise<Owner> => {
    const token = newToken();
    await store.writer.query(insertSession, [accountId, email, hashToken(token)]);
    const { rows } = await store.writer.query<{ id: number }>(nameMember, [accountId, email, name, role]);
    const readText = async (path: string) => {
      const answer = await ask(token, path);
      expect(answer.statusCode, `${path}: ${answer.body}`).toBe(200);
      return answer.body;
    };
    return {
      accountId,
      memberId: one(rows, 'add a member').id,
      readText,
      read: async (path) => JSON.parse(await readText(path)),
      async refused(path) {
        const answer = await ask(token, path);
        const { error } = answer.json<{ error: Record<string, unknown> }>();
        return [answer.statusCode, error['code'], error['message'], error['parameter']];
      },
      async send(method, path, body) {
        const answer = await ask(token, path, method, body);
        return [answer.statusCode, JSON.parse(answer.body || 'null')];
      },
    };
  };
  return {
    async owner() {
      const accountId = await store.account();
      return join(accountId, `${accountId}@example.com`, [`${accountId}@example.com`, 'owner']);
    },
    member: (accountId, name, role) =>
      join(accountId, `${name.replaceAll(' ', '.')}.${accountId}@example.com`, [name, role]),
    async close() {
      await app.close();
      await reader.end();
    },
  };
}
