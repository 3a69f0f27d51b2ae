import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { freePort } from '../contract/free-port.ts';
import { type Environment, embeddedUrl, startProcess, startService } from '../contract/running-service.ts';

/** A member with the credentials and session of their sign-in. */
export interface Person {
  email: string;
  password: string;
  /** The value of the session cookie. */
  session: string;
}

/** An account of a real service, that members can join. */
export interface ConsoleAccount {
  /** For example http://127.0.0.1:40123. A restart does not change it. */
  origin: string;
  accountId: number;
  /** The path of a link that makes its user an owner of the account. */
  ownerLink(): Promise<string>;
  /** Signs in an owner of the account, or of another account. */
  owner(accountId?: number): Promise<Person>;
  /** Makes another account with this plan, without sample data, and signs in its owner. */
  createOwner(plan: string): Promise<Person>;
  /** Adds a member with these roles and signs them in. */
  member(name: string, roles: string[]): Promise<Person>;
  /** Signs a person in once more: a session has a budget of requests, and tests are faster than people. */
  signIn(person: Person): Promise<Person>;
  /** Sends a request to the console's API as that person. Throws the answer when the request fails. */
  ask<T>(person: Person, method: string, path: string, body?: unknown): Promise<T>;
  /** Runs `dbvitals … --json` on the store and returns the parsed output. Throws the output when the command fails. */
  command<T>(...args: string[]): Promise<T>;
  /** The URL of the store itself with the owner's login, for use as a watched database. */
  storeUrl(): string;
  /** Runs a statement on the store as its owner. */
  statement(sql: string): Promise<void>;
}

/** A service with its own store, and an account there. */
export interface ConsoleService extends ConsoleAccount {
  /** Stops the service. `start` starts it again on the same port. */
  halt(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Where an account is made. */
interface Place {
  origin: string;
  /** Of commands on the store. */
  environment: Environment;
  storeUrl(): string;
}

/** Makes an account with sample connections, tickets and entries on the service of the run. */
export function createConsoleAccount(sample: Record<string, number>): Promise<ConsoleAccount> {
  const running = inject('console');
  if (!running) throw new Error('test/browser/shared-service.ts has started no service.');
  return createAccount(sample, { ...running, storeUrl: () => running.storeUrl });
}

/**
 * Starts a service, by default without a monitor, for tests that stop or configure it, and makes an account with sample data.
 * `environment` may name another store by DATABASE_URL and DBVITALS_SECRET_KEY.
 */
export async function startConsoleService(
  sample: Record<string, number>,
  { withMonitor = false, environment: given = {} }: { withMonitor?: boolean; environment?: Environment } = {},
): Promise<ConsoleService> {
  const scratch = mkdtempSync(join(tmpdir(), 'dbvitals-console-'));
  chmodSync(scratch, 0o711);
  const dataFolder = join(scratch, 'data');
  const environment: Environment = { DBVITALS_DATA_DIR: dataFolder, ...given };
  const port = String(await freePort());
  const serve = () =>
    startService(
      { ...environment, PORT: port, DBVITALS_ALLOW_CONSOLE_SOCKETS: 'yes' },
      withMonitor ? [] : ['--no-monitor'],
    );
  let service = await serve();
  const stop = async () => {
    await service.stop();
    rmSync(scratch, { recursive: true, force: true });
  };
  try {
    const storeUrl = () => given['DATABASE_URL'] ?? embeddedUrl(dataFolder)['DATABASE_URL'] ?? '';
    const account = await createAccount(sample, { origin: service.origin, environment, storeUrl });
    const halt = async () => {
      await service.stop();
    };
    const start = async () => {
      service = await serve();
    };
    return { ...account, halt, start, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createAccount(
  sample: Record<string, number>,
  { origin, environment, storeUrl }: Place,
): Promise<ConsoleAccount> {
  const command = <T>(...args: string[]) => commandJson<T>(args, environment);
  // Sample data has its full history only in an account without entries. The service's first account has some.
  const { id } = await command<{ id: number }>(
    'account',
    'create',
    '--name',
    'Example company',
    '--plan',
    'enterprise',
  );
  const ours = ['--account', String(id)];
  const sizes = Object.entries(sample).flatMap(([name, size]) => [`--${name}`, String(size)]);
  await command('sample-data', ...ours, '--seed', '1', ...sizes);
  const createLink = async (accountId: number, ...args: string[]) => {
    const { link } = await command<{ link: string }>(
      'member',
      'link',
      '--account',
      String(accountId),
      ...args,
    );
    return new URL(link).pathname;
  };
  const owner = async (accountId = id) => signUp(origin, await createLink(accountId), 'Ada Lovelace');
  return {
    origin,
    accountId: id,
    command,
    storeUrl,
    ask: (person, method, path, body) => ask(origin, person.session, method, path, body),
    ownerLink: () => createLink(id),
    owner,
    createOwner: async (plan) => {
      const named = ['--name', 'New company', '--plan', plan];
      const created = await command<{ id: number }>('account', 'create', ...named);
      return owner(created.id);
    },
    member: async (name, roles) => {
      const address = `${name.toLowerCase().replace(/\W+/g, '.')}.${id}@example.com`;
      const given = ['--name', name, '--email', address, ...roles.flatMap((role) => ['--role', role])];
      const member = await command<{ id: number }>('member', 'add', ...ours, ...given);
      return signUp(origin, await createLink(id, '--member', String(member.id)), name);
    },
    signIn: async ({ email, password }) => {
      const session = await startSession(origin, '/sign-in', { email, password });
      return { email, password, session };
    },
    statement: async (sql) => {
      const client = new pg.Client({ connectionString: storeUrl() });
      await client.connect();
      await client.query(sql).finally(() => client.end());
    },
  };
}

let signedUp = 0;

/** Signs a member up through their link, with their own e-mail address and password. */
async function signUp(origin: string, link: string, name: string): Promise<Person> {
  signedUp += 1;
  const { email } = await ask<{ email: string | null }>(origin, null, 'GET', link);
  const address = email ?? `owner.${signedUp}.${process.pid}@example.com`;
  const password = `a sentence of person ${signedUp} ${process.pid}`;
  const session = await startSession(origin, link, {
    name,
    password,
    ...(email === null && { email: address }),
  });
  return { email: address, password, session };
}

/** Posts to a route that answers with a session, and returns its cookie's value. */
async function startSession(origin: string, path: string, body: object): Promise<string> {
  const response = await fetch(`${origin}/console/api${path}`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return /session=([^;]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1] ?? '';
}

async function ask<T>(
  origin: string,
  session: string | null,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await fetch(`${origin}/console/api${path}`, {
    method,
    headers: {
      origin,
      ...(session === null ? {} : { cookie: `dbvitals_session=${session}` }),
      ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
    },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

async function commandJson<T>(args: string[], environment: Record<string, string>): Promise<T> {
  const { child, ended, output } = startProcess([...args, '--json'], environment, '');
  let printed = '';
  child.stdout?.on('data', (text: string) => {
    printed += text;
  });
  if ((await ended) !== 0) throw new Error(`dbvitals ${args.join(' ')}: ${output()}`);
  return JSON.parse(printed);
}
