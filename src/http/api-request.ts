import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import type { ApiUrl, ParsedQuery } from './api-url.ts';

/** Whether an address belongs to a trusted proxy. */
type Trusts = (address: string, hop: number) => boolean;

/** Whom to trust; null = nobody. `networks` are addresses or networks such as `10.0.0.0/8`. */
export function trustedProxies(networks: readonly string[]): Trusts | null {
  return networks.length > 0 ? proxyAddr.compile([...networks]) : null;
}

/** A body that is read on demand (`edge/request-body.ts`). */
interface Body {
  ignore(): void;
  read(): Promise<Buffer | null | undefined>;
}

/** What differs from the raw request. */
interface Message {
  body?: Body | null;
  method?: string;
  userAgent?: string;
}

const NO_MESSAGE: Message = {};

/**
 * A request of the API with its response. Fastify's own object costs as much as the rest of Node's work, so these requests
 * have none. Forwarded headers of trusted proxies count as in Fastify.
 */
export class ApiRequest {
  readonly id = randomUUID();
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  readonly parsed: ApiUrl;
  readonly method: string;
  readonly userAgent: string | undefined;
  /** The body of a message; null = the request needs none, and its body is ignored. */
  readonly body: Body | null;
  /** The body as it was read: null if it was too large, undefined if there is none or it broke off. */
  content: Buffer | null | undefined = undefined;
  readonly #trusts: Trusts | null;

  constructor(
    raw: IncomingMessage,
    response: ServerResponse,
    parsed: ApiUrl,
    trusts: Trusts | null,
    { body = null, method = raw.method ?? '', userAgent = raw.headers['user-agent'] }: Message = NO_MESSAGE,
  ) {
    this.raw = raw;
    this.response = response;
    this.parsed = parsed;
    this.body = body;
    this.method = method;
    this.userAgent = userAgent;
    this.#trusts = trusts;
  }

  /** Reads the body into `content`. */
  async readContent(): Promise<void> {
    this.content = await this.body?.read();
  }

  /** The GET request of another URL that a message of this request stands for, by a product of ours for the client. */
  toRead(parsed: ApiUrl, product: string): ApiRequest {
    const userAgent = this.userAgent === undefined ? product : `${product} ${this.userAgent}`;
    return new ApiRequest(this.raw, this.response, parsed, this.#trusts, { method: 'GET', userAgent });
  }

  get url(): string {
    return this.parsed.text;
  }

  get query(): ParsedQuery {
    return this.parsed.query;
  }

  get headers(): IncomingHttpHeaders {
    return this.raw.headers;
  }

  get socket(): Socket {
    return this.raw.socket;
  }

  /** The client's address. */
  get ip(): string {
    if (this.#trusts === null) return this.socket.remoteAddress ?? '';
    return proxyAddr.all(this.raw, this.#trusts).at(-1) ?? '';
  }

  /** The host that the client asked for, with its port; empty = it named none. */
  get host(): string {
    return this.#forwarded('x-forwarded-host') ?? this.headers.host ?? '';
  }

  /** `http` or `https`; a trusted proxy may send anything. */
  get protocol(): string {
    return this.#forwarded('x-forwarded-proto') ?? ('encrypted' in this.socket ? 'https' : 'http');
  }

  /** The last value of a forwarded header, if the sender is trusted. */
  #forwarded(name: string): string | undefined {
    const text = this.#trusts === null ? undefined : this.headers[name];
    if (!text || !this.#trusts?.(this.socket.remoteAddress ?? '', 0)) return undefined;
    return String(text).split(',').at(-1)?.trim();
  }
}
