import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { changeAccount } from '../../activity/record-entry.ts';
import {
  callHeartbeat,
  findHeartbeatAccount,
  type HeartbeatCall,
} from '../../connections/backups/backup-heartbeat.ts';
import { AccountTurns } from '../../http/account-turns.ts';
import { FailedAuthentications } from '../../http/failed-authentications.ts';
import { invalidParameter, Rejection } from '../../platform/rejection.ts';
import { hashToken } from '../../platform/token.ts';
import type { ConsoleParts } from '../route.ts';

/** The routes of heartbeats. After the token comes nothing, `/start`, `/fail`, or the exit code of the job. */
const HEARTBEAT_PATHS = ['/heartbeat', '/heartbeat/*'];

/** How many calls of a token are recorded in a minute. */
const CALLS_A_MINUTE = 10;
const MINUTE_MS = 60_000;
/** Every unknown token is answered so late after its request, however fast the store was. */
const UNKNOWN_MS = 250;
/** Tokens that are looked up at a time, and the account under which these wait: whose they are is not known yet. */
const LOOKUPS = { all: 2, ofAccount: 2 };
const NO_ACCOUNT = 0;
const TOKEN = /^[\w-]{43}$/;
const LARGEST = 2 ** 53 - 1;

/** Where calls are recorded, at the turn of the account. */
type HeartbeatParts = Pick<ConsoleParts, 'stores' | 'inTurn'>;

/** A request to a heartbeat's URL. */
interface HeartbeatRequest {
  /** Behind `/heartbeat/`. */
  path: string;
  query: Readonly<Record<string, unknown>>;
  address: string;
}

const unknown = new Rejection(
  'not_found',
  'There is no such heartbeat. Create a new URL for the connection.',
);

const notPost = new Rejection('method_not_allowed', 'Call a heartbeat with POST: curl -X POST.');

/** Backup jobs call these with no more than their token, so there is no session and no origin. A body is never read. */
export function serveHeartbeats(
  app: FastifyInstance,
  parts: HeartbeatParts,
  addressOf: (request: FastifyRequest) => string,
): void {
  const calls = new HeartbeatCalls(parts);
  for (const url of HEARTBEAT_PATHS) {
    app.route({
      method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      url,
      onRequest: async (request, reply) => {
        // A preview of a link must not look like a backup.
        if (request.method !== 'POST') {
          reply.header('allow', 'POST');
          throw notPost;
        }
        const { '*': path = '' } = request.params as { '*'?: string };
        const query = request.query as Record<string, unknown>;
        await calls.record({ path, query, address: addressOf(request) });
        return reply.type('text/plain; charset=utf-8').send('ok\n');
      },
      handler: async () => {},
    });
  }
}

/** Whether a request is the call of a heartbeat. */
export function isHeartbeat({ routeOptions: { url } }: FastifyRequest): boolean {
  return url !== undefined && HEARTBEAT_PATHS.includes(url);
}

/**
 * Records the calls of heartbeats. What it answers to a token that is not known is the same for every such token, and takes
 * the same time.
 */
class HeartbeatCalls {
  readonly #parts: HeartbeatParts;
  readonly #failures = new FailedAuthentications();
  readonly #windows = new LRUCache<string, { endsAt: number; calls: number }>({ max: 10_000 });
  readonly #lookups = new AccountTurns(LOOKUPS);

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  /** Records one call. Throws a {@link Rejection}. */
  async record({ path, query, address }: HeartbeatRequest): Promise<void> {
    // Checked before the token, so that it tells nothing about one.
    const bytes = parseSize(query);
    const { token, signal } = parsePath(path);
    const began = performance.now();
    const { remaining, resetIn } = this.#failures.budget(address);
    if (remaining === 0) throw tooMany(resetIn);
    this.#count(token);
    if (signal && TOKEN.test(token)) {
      const isKnown = await this.#store(token, { signal, bytes });
      if (isKnown) return;
    }
    this.#failures.count(address);
    await wait(Math.max(0, UNKNOWN_MS - (performance.now() - began)));
    throw unknown;
  }

  async #store(token: string, call: HeartbeatCall): Promise<boolean> {
    const { stores, inTurn } = this.#parts;
    const [found] = await this.#lookups.run(NO_ACCOUNT, () =>
      stores.inEach(({ writer }) => findHeartbeatAccount(writer, token)),
    );
    if (!found) return false;
    const { account_id: accountId } = found;
    const { writer } = await stores.of(accountId);
    return inTurn(writer, accountId, () =>
      changeAccount(writer, accountId, (change) => callHeartbeat(change, token, call)),
    );
  }

  /** Counts by hash whether the token is known or not. Throws 429. */
  #count(token: string): void {
    const key = hashToken(token).toString('base64url');
    const now = performance.now();
    const known = this.#windows.get(key);
    const window = known && known.endsAt > now ? known : { endsAt: now + MINUTE_MS, calls: 0 };
    this.#windows.set(key, window);
    if (window.calls >= CALLS_A_MINUTE) throw tooMany(Math.ceil((window.endsAt - now) / 1_000));
    window.calls += 1;
  }
}

/** The size of the backup in bytes; null = it is not given. A job whose backup failed may have no file, and sends an empty one. */
function parseSize(query: HeartbeatRequest['query']): number | null {
  const { size, ...others } = query;
  const isGiven = size !== undefined && size !== '';
  const isNumber = typeof size === 'string' && /^[0-9]{1,16}$/.test(size) && Number(size) <= LARGEST;
  if (Object.keys(others).length > 0 || (isGiven && !isNumber))
    throw invalidParameter(
      'size',
      'size must be the size of the backup in bytes; there is no other parameter.',
    );
  return isGiven ? Number(size) : null;
}

const FAILED = /^(?:fail|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])$/;

/** The signal is null if the path ends in something else. */
function parsePath(path: string): { token: string; signal: HeartbeatCall['signal'] | null } {
  const [token = '', end, ...more] = path.split('/');
  if (more.length > 0) return { token, signal: null };
  if (end === undefined || end === '0') return { token, signal: 'succeeded' };
  if (end === 'start') return { token, signal: 'started' };
  return { token, signal: FAILED.test(end) ? 'failed' : null };
}

function tooMany(seconds: number): Rejection {
  return new Rejection('too_many_attempts', `Too many calls. Wait ${seconds} s, then try again.`, {
    retryAfter: seconds,
  });
}
