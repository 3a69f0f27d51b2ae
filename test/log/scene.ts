import { addAccount } from '../../src/accounts/add-account.ts';
import { addLink } from '../../src/accounts/members/add-link.ts';
import { type Change, changeAccount } from '../../src/activity/record-entry.ts';
import { consoleOn } from '../../src/console-api/console-fixture.ts';
import { runDispatcher, startReceiver } from '../../src/notifications/dispatch/dispatcher-fixture.ts';
import type { Rounds } from '../../src/platform/rounds.ts';
import { openPool } from '../../src/store/connect.ts';
import type { TestStore } from '../support/store.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A browser that keeps the console's cookies. */
interface Visitor {
  /** The status of an answer. */
  ask(method: Method, path: string, body?: object): Promise<number>;
  /** The body of an answer; throws for an error. */
  send<Body = unknown>(method: Method, path: string, body?: object): Promise<Body>;
}

/** An account with its owner, and all that acts on it: the console, the dispatcher, a receiver, and the store's roles. */
export interface Scene {
  store: TestStore;
  owner: ReturnType<typeof openPool>;
  accountId: number;
  /** The signed-in owner of the account. */
  ada: Visitor;
  visit(): Visitor;
  /** A change by the command line. */
  change<Result>(work: (change: Change) => Promise<Result>): Promise<Result>;
  /** Its requests are accepted, unless their path begins with /fail. */
  receiver: Awaited<ReturnType<typeof startReceiver>>;
  close(): Promise<void>;
}

export const EMAIL = 'ada@example.com';
export const PASSWORD = 'unspoken-passphrase-of-ada';

export async function openScene(store: TestStore): Promise<Scene> {
  const reader = openPool(store.address, 'console', { max: 2, pipeline: true });
  const owner = openPool(store.address, 'owner', { max: 2 });
  const app = await consoleOn(store, reader, () => Promise.reject(new Error('not in this test')));
  const receiver = await startReceiver(({ path }) => (path.startsWith('/fail') ? 503 : 200));
  const dispatcher: Rounds = runDispatcher(store);
  const account = {
    name: 'Example Ltd',
    kind: 'company',
    plan: 'enterprise',
    requests_per_minute: null,
  } as const;
  const { id: accountId } = await addAccount(store.writer, account);
  const change: Scene['change'] = (work) => changeAccount(store.writer, accountId, work);
  const visit = () => openVisitor(app);
  const ada = visit();
  const { token } = await change((made) =>
    addLink(made, { purpose: 'owner', memberId: null, createdBy: null }),
  );
  await ada.send('POST', `/link/${token}`, { name: 'Ada', email: EMAIL, password: PASSWORD });
  return {
    store,
    owner,
    accountId,
    ada,
    visit,
    change,
    receiver,
    async close() {
      await dispatcher.stop();
      await receiver.stop();
      await app.close();
      await Promise.all([reader.end(), owner.end()]);
    },
  };
}

function openVisitor(app: Awaited<ReturnType<typeof consoleOn>>): Visitor {
  const cookies = new Map<string, string>();
  const request = async (method: Method, path: string, body?: object) => {
    const answer = await app.inject({
      method,
      url: `/console/api${path}`,
      headers: {
        'dbvitals-caller': JSON.stringify({
          requestId: 'x',
          address: '192.0.2.7',
          origin: 'http://localhost',
        }),
        'user-agent': 'Mozilla/5.0',
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(method !== 'GET' && { origin: 'http://localhost' }),
      },
      ...(body && { payload: body }),
    });
    for (const { name, value } of answer.cookies) cookies.set(name, value);
    return answer;
  };
  return {
    ask: async (method, path, body) => (await request(method, path, body)).statusCode,
    async send(method, path, body) {
      const { statusCode, body: text } = await request(method, path, body);
      if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${text}`);
      return text.startsWith('{') ? JSON.parse(text) : text;
    },
  };
}
