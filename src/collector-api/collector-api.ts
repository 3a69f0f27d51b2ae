import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import {
  admitRequest,
  CLOCK_SECONDS,
  findSigner,
  storeCollectorFacts,
} from '../accounts/collectors/admit-collector.ts';
import { enrolCollector, hasToken, invalidToken } from '../accounts/collectors/enrol-collector.ts';
import { accountOfToken } from '../accounts/collectors/issue-token.ts';
import { callerFactsOf, type Handler } from '../api/console-handler.ts';
import { AccountTurns } from '../http/account-turns.ts';
import { validatorOnUse } from '../http/edge/compile-schemas.ts';
import { endConnection } from '../http/edge/end-connection.ts';
import type { FailedAuthentications } from '../http/failed-authentications.ts';
import { releaseOtherRuns } from '../monitor/collected/claim-collected.ts';
import { listWantedLooks } from '../monitor/collected/collected-look.ts';
import { handOut, listCollected } from '../monitor/collected/hand-out.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import { hasDigest, isSignedBy, parseSignature, type WrittenSignature } from '../platform/http-signature.ts';
import { Rejection } from '../platform/rejection.ts';
import { accountMoving } from '../store/directory/console-stores.ts';
import { errorFields, isStoreFailure } from '../store/store-failure.ts';
import { AccountPace } from './account-pace.ts';
import { Enrol, TAKES, Work } from './collector-schemas.ts';
import { versionProblem } from './collector-versions.ts';
import { atTurn, DELIVERIES, type Proved } from './deliveries.ts';
import { BodyBroken, parseBody, readBody } from './read-body.ts';
import { busy, postOnly, replayed, spent, unknownPath, unsigned } from './refusals.ts';
import { JSON_TYPE, sendJson } from './send-json.ts';
import { validBody } from './valid-body.ts';

/** What the requests of collectors depend on. */
export interface CollectorParts {
  /** A pool of the writer on the store of an account; null if no store has it. Throws while it can't be used. */
  writerOf: (accountId: number) => Promise<pg.Pool | null>;
  secret: SecretKeys;
  allowPrivateTargets: boolean;
  /** Empty, or a path such as `/dbvitals`: collectors sign the path that they request. */
  basePath: string;
  /** The version of the service. */
  version: string;
  failures: FailedAuthentications;
  log: Logger;
}

const LARGEST_QUESTION = 16 * 1024;

const PATH = '/collector/';

/** How long a request for work waits for a run that is due. Proxies end requests of 60 s. */
const POLL_MS = 20_000;
const EVERY_MS = 1_000;

/** Bodies in memory at a time, until they are stored: each may take 12 MiB. A slow one keeps a place of its own account. */
const READS = { all: 20, ofAccount: 4 };

/** Lookups of keys at the same time, for requests that nobody has proved to be of a collector. */
const MOST_LOOKUPS = 50;

/** The requests of collectors: they enrol, ask for work, and deliver results. */
export class CollectorApi {
  readonly #parts: CollectorParts;
  readonly #closing = new AbortController();
  /** Requests for work that wait, by collector: a new one ends the one before. */
  readonly #polls = new Map<string, AbortController>();
  readonly #reads = new AccountTurns(READS);
  readonly #pace = new AccountPace();
  #lookups = 0;

  constructor(parts: CollectorParts) {
    this.#parts = parts;
  }

  readonly handle: Handler = (request, response) => {
    response.setHeader('cache-control', 'no-store');
    response.setHeader('x-content-type-options', 'nosniff');
    void this.#answer(request, response).catch((error: unknown) => this.#refuse(request, response, error));
  };

  /** Ends the requests for work that wait. */
  hangUp(): void {
    this.#closing.abort();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?');
    const action = path.startsWith(PATH) ? path.slice(PATH.length) : '';
    if (action !== 'enrol' && action !== 'work' && !isDelivery(action)) throw unknownPath;
    if (request.method !== 'POST') throw postOnly;
    if (action === 'enrol') return sendJson(request, response, await this.#enrol(request));
    const { signature, ...proved } = await this.#prove(request, path);
    if (action === 'work') {
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      const read = () => this.#read(request, signature, proved, { bytes: LARGEST_QUESTION, accept: toWork });
      const asked = await this.#reads.run(proved.collector.accountId, read);
      return sendJson(request, response, await this.#work(proved, asked, gone.signal));
    }
    const { secret, log } = this.#parts;
    const answer = await this.#reads.run(proved.collector.accountId, async () => {
      const store = await this.#read(request, signature, proved, DELIVERIES[action]);
      return store({ secret, log, pace: this.#pace }, proved);
    });
    await sendJson(request, response, answer);
  }

  async #enrol(request: IncomingMessage): Promise<object> {
    const { address } = callerFactsOf(request);
    const body = await parseBody(
      await readBody(request, LARGEST_QUESTION),
      request.headers,
      LARGEST_QUESTION,
    );
    const { token, name, public_key, version } = validBody<Enrol>(isEnrol, body);
    this.#requireVersion(version);
    const accountId = accountOfToken(token);
    const writer = accountId === null ? null : await this.#lookUp(() => this.#parts.writerOf(accountId));
    if (accountId === null || !writer) throw this.#failed(address, invalidToken);
    const publicKey = Buffer.from(public_key, 'base64');
    // Only who has a token takes a turn, and the lock of the account's log.
    if (!(await this.#lookUp(() => hasToken(writer, accountId, token))))
      throw this.#failed(address, invalidToken);
    const { id, fingerprint } = await atTurn(writer, accountId, () =>
      enrolCollector(writer, accountId, { token, name, publicKey, version, address }),
    );
    return { account: accountId, collector: id, fingerprint };
  }

  /** Proves that a living collector sent the request, now and for the first time, before its body is read. */
  async #prove(request: IncomingMessage, path: string): Promise<Proved & { signature: WrittenSignature }> {
    const { address } = callerFactsOf(request);
    const signature = parseSignature(request.headers);
    if (!signature) throw this.#failed(address, unsigned);
    const [accountId = 0, id = 0] = signature.keyId.split('/').map(Number);
    const writer = await this.#lookUp(() => this.#parts.writerOf(accountId));
    const collector = writer && (await this.#lookUp(() => findSigner(writer, accountId, id)));
    const signed = { method: 'POST', path: this.#parts.basePath + path };
    if (!collector || !isSignedBy(collector.publicKey, signed, signature))
      throw this.#failed(address, unsigned);
    const ahead = signature.nonce / 1e6 - Date.now() / 1e3;
    if (Math.abs(ahead) > CLOCK_SECONDS)
      throw new Rejection(
        'unauthorized',
        `The clocks of the collector and the service differ by ${Math.round(Math.abs(ahead))} s: at most ${CLOCK_SECONDS} s are allowed.`,
      );
    const isFirst = await atTurn(writer, accountId, () => admitRequest(writer, collector, signature.nonce));
    if (!isFirst) throw replayed;
    return { collector, writer, sentAt: Math.floor(signature.nonce / 1e3), signature };
  }

  /** Reads a body and checks its form. What large bodies take of this process is counted. */
  async #read<T>(
    request: IncomingMessage,
    signature: WrittenSignature,
    { collector: { accountId } }: Proved,
    { bytes, accept }: { bytes: number; accept(body: unknown): T },
  ): Promise<T> {
    const sent = await readBody(request, bytes);
    if (!hasDigest(sent, signature)) throw unsigned;
    await this.#pace.wait(accountId);
    return this.#pace.spend(accountId, async () => accept(await parseBody(sent, request.headers, bytes)));
  }

  async #work({ collector, writer }: Proved, asked: Work, gone: AbortSignal): Promise<object> {
    const { version, free, running, looking = [], buffered = { results: 0, seconds: 0 } } = asked;
    this.#requireVersion(version);
    const { accountId, id: collectorId } = collector;
    const key = { accountId, collectorId };
    const atOwnTurn = <T>(work: () => Promise<T>) => atTurn(writer, accountId, work);
    await atOwnTurn(() => storeCollectorFacts(writer, collector, { version, buffered }));
    await atOwnTurn(() => releaseOtherRuns(writer, key, running));
    const poll = this.#startPoll(`${accountId}/${collectorId}`);
    const signal = AbortSignal.any([poll.signal, gone, this.#closing.signal]);
    const until = performance.now() + POLL_MS;
    const { secret, allowPrivateTargets } = this.#parts;
    const take = () => handOut({ writer, secret, allowPrivateTargets }, key, free);
    try {
      for (let isFirst = true; !signal.aborted; isFirst = false) {
        const jobs = free === 0 ? [] : await atOwnTurn(take);
        // A collector may have no room for a look, or take none: it does not ask again without a pause.
        const looks = isFirst ? [] : await atOwnTurn(() => listWantedLooks(writer, key, looking));
        if (jobs.length > 0 || looks.length > 0 || performance.now() > until) {
          const connections = await atOwnTurn(() => listCollected(writer, key));
          return { jobs, looks, connections, takes: TAKES };
        }
        await wait(EVERY_MS, undefined, { signal }).catch(() => {});
      }
      // Of a collector that asked again, the first question has hung up. A copy of it, on a machine that was cloned, has not: answered at once,
      // the two would end each other's questions without a pause.
      const isLeft = AbortSignal.any([gone, this.#closing.signal]);
      await wait(Math.max(0, until - performance.now()), undefined, { signal: isLeft }).catch(() => {});
      return { jobs: [], takes: TAKES };
    } finally {
      this.#endPoll(`${accountId}/${collectorId}`, poll);
    }
  }

  #startPoll(key: string): AbortController {
    this.#polls.get(key)?.abort();
    const poll = new AbortController();
    this.#polls.set(key, poll);
    return poll;
  }

  #endPoll(key: string, poll: AbortController): void {
    if (this.#polls.get(key) === poll) this.#polls.delete(key);
  }

  #requireVersion(version: string): void {
    const problem = versionProblem(version, this.#parts.version);
    if (problem !== null) throw new Rejection('conflict', problem, { parameter: 'version' });
  }

  /** Counts a failed authentication of an address. Those that succeed are never refused because of others. */
  #failed(address: string, error: Rejection): Rejection {
    return this.#parts.failures.count(address) ? error : spent;
  }

  async #lookUp<T>(find: () => Promise<T>): Promise<T> {
    if (this.#lookups >= MOST_LOOKUPS) throw busy;
    this.#lookups += 1;
    try {
      return await find();
    } finally {
      this.#lookups -= 1;
    }
  }

  #refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    if (error instanceof BodyBroken || response.destroyed) return void request.socket.destroy();
    if (response.headersSent) return;
    const { log } = this.#parts;
    const rejection = error instanceof Rejection ? error : toRejection(error);
    if (!(error instanceof Rejection) && !isStoreFailure(error))
      log.error(errorFields(error, log), 'a request of a collector failed');
    if (rejection.retryAfter !== null) response.setHeader('retry-after', rejection.retryAfter);
    // The rest of an unread body is dropped with the connection.
    if (!request.complete) {
      response.setHeader('connection', 'close');
      response.once('finish', () => endConnection(request.socket));
    }
    response.writeHead(rejection.status, { 'content-type': JSON_TYPE });
    response.end(rejection.envelope());
  }
}

const isEnrol = validatorOnUse(Enrol);
const isWork = validatorOnUse(Work);

function toWork(body: unknown): Work {
  return validBody<Work>(isWork, body);
}

function isDelivery(action: string): action is keyof typeof DELIVERIES {
  return Object.hasOwn(DELIVERIES, action);
}

const internalError = new Rejection(
  'internal_error',
  'The service could not answer: try again, waiting longer each time.',
);

function toRejection(error: unknown): Rejection {
  return error === accountMoving ? accountMoving : internalError;
}
