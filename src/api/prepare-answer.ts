import type pg from 'pg';
import { awaitEntries } from '../activity/await-entries.ts';
import { type Answer, errorAnswer, successAnswer } from '../http/answer.ts';
import type { ApiRequest } from '../http/api-request.ts';
import { serializerOnUse, validatorOnUse } from '../http/edge/compile-schemas.ts';
import { localOrigin, pagePath } from '../http/edge/edge.ts';
import { checkQuery } from '../http/edge/parameters.ts';
import type { Endpoint } from '../http/endpoint.ts';
import * as errors from '../http/errors.ts';
import { Rejection } from '../platform/rejection.ts';
import { traced } from '../platform/telemetry/tracing.ts';
import { readOnce } from '../store/exchange/read-once.ts';
import type { Read } from '../store/read.ts';
import { hasAccess, includes, isInScope } from '../vocabulary/plans.ts';
import { KeptAnswers } from './gate/answers.ts';
import type { Identity } from './gate/identify.ts';

/** An answer to send if the gate admits the request; `generation` is null if it was read after the request arrived. */
export interface Prepared {
  answer: Answer;
  generation: number | null;
  /** Where the answer comes from; `none` = it needed no data, such as an error. */
  source: 'cache' | 'store' | 'none';
  /** What the gate records instead of the request: the one that a message stands for, and its answer. */
  entry?: { readonly request: ApiRequest; readonly answer: Answer };
  /** The answer to a message over the key's limit, instead of the error. The limit's window ends in so many seconds. */
  whenLimited?: (seconds: number) => Promise<Answer>;
}

const prepareStep = () => ({ name: 'prepare', attributes: {} });

/** Prepares answers, and caches those that depend only on the account's data. */
export class Preparation {
  readonly #reader: pg.Pool;
  readonly #writer: pg.Pool;
  readonly #endpoints: ReadonlyMap<string, CompiledEndpoint>;
  readonly #basePath: string;
  readonly #publicUrl: string | null;
  readonly #kept: KeptAnswers<Prepared>;

  /**
   * `endpoints` are keyed by the path of their route, below `basePath`. `reader` should pipeline; `writer` only waits.
   * `publicUrl` is the origin of links for a client that sends no host; null = the address that it connected to. `share` is
   * the part of the process's room for cached answers.
   */
  constructor(
    reader: pg.Pool,
    writer: pg.Pool,
    endpoints: ReadonlyMap<string, Endpoint>,
    { basePath, publicUrl, share }: { basePath: string; publicUrl: string | null; share: number },
  ) {
    this.#kept = new KeptAnswers<Prepared>(share);
    this.#basePath = basePath;
    this.#publicUrl = publicUrl;
    this.#reader = reader;
    this.#writer = writer;
    this.#endpoints = new Map([...endpoints].map(([route, endpoint]) => [route, compileOnUse(endpoint)]));
  }

  /**
   * Checks plan, scopes, path, method, parameters and resource in this order; the first error is the answer. What is outside
   * the key's scopes is answered as an unknown path. Returns a promise only if the store must be read. `afresh` = the cached answer was outdated.
   */
  prepare(request: ApiRequest, identity: Identity, afresh: boolean): Prepared | Promise<Prepared> {
    const { route } = request.parsed;
    const endpoint = this.#endpoints.get(route);
    const path = endpoint ? route : pagePath(request.url);
    if (hasAccess(identity.plan) && !isInScope(identity.access.scopes, path))
      return refused(errors.unknownPath);
    if (!includes(identity.plan, path)) return refused(errors.tierInsufficient);
    if (!endpoint) return refused(errors.unknownPath);
    if (request.method !== 'GET' && request.method !== 'HEAD') return refused(errors.methodNotAllowed);
    const url = `${this.#origin(request)}${this.#basePath}${request.url}`;
    if (endpoint.reuse === 'kept' && !afresh) {
      const kept = this.#kept.get(identity.accountId, identity.generation, url);
      if (kept) return kept;
    }
    return this.#prepareTraced(request, identity, endpoint, url);
  }

  #prepareTraced(request: ApiRequest, identity: Identity, endpoint: CompiledEndpoint, url: string) {
    return traced(prepareStep, () => this.#prepareAfresh(request, identity, endpoint, url));
  }

  #origin(request: ApiRequest): string {
    const { protocol, host } = request;
    return host === '' ? (this.#publicUrl ?? localOrigin(protocol, request.socket)) : `${protocol}://${host}`;
  }

  async #prepareAfresh(
    request: ApiRequest,
    identity: Identity,
    endpoint: CompiledEndpoint,
    url: string,
  ): Promise<Prepared> {
    try {
      const { answer, generation, isKept } = await this.#read(request, identity.accountId, endpoint, url);
      if (isKept) {
        identity.generation = generation;
        this.#kept.keep(identity.accountId, generation, url, { answer, generation, source: 'cache' });
      }
      return { answer, generation: null, source: 'store' };
    } catch (error) {
      if (error instanceof Rejection) return refused(error);
      throw error;
    }
  }

  async #read(
    request: ApiRequest,
    accountId: number,
    endpoint: CompiledEndpoint,
    url: string,
  ): Promise<{ answer: Answer; generation: number; isKept: boolean }> {
    const query = checkQuery(request.query, endpoint.query, endpoint.validate);
    const { id } = request.parsed;
    const instant = endpoint.wholeUpTo?.(query) ?? null;
    if (instant !== null) await awaitEntries(this.#writer, accountId, instant);
    const work = (read: Read) => endpoint.write(read, { accountId, query, id, url });
    const isKept = endpoint.reuse === 'kept' && endpoint.isFresh?.(query) !== true;
    const { result, generation } = await readOnce(this.#reader, accountId, work, isKept);
    const { json, link = null } = result;
    const answer = successAnswer(Buffer.from(json), link, endpoint.reuse !== 'unstored');
    return { answer, generation, isKept };
  }
}

export type CompiledEndpoint = Endpoint & {
  validate: ReturnType<typeof validatorOnUse>;
  write: NonNullable<Endpoint['write']>;
};

/** An endpoint whose schemas are compiled when they are first used. */
export function compileOnUse(endpoint: Endpoint): CompiledEndpoint {
  const { query, response } = endpoint;
  const serialize = serializerOnUse(response);
  const write: Endpoint['write'] = async (read, request) => {
    const { body, ...link } = await endpoint.answer(read, request);
    return { json: serialize(body), ...link };
  };
  return { write, ...endpoint, validate: validatorOnUse(query) };
}

function refused(error: Rejection): Prepared {
  return { answer: errorAnswer(error), generation: null, source: 'none' };
}
