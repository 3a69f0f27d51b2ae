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

/**
 * A request below `/api/` with its response. Fastify's own object costs as much as the rest of Node's work, so these requests
 * have none. Forwarded headers of trusted proxies count as in Fastify.
 */
export class ApiRequest {
  readonly id = randomUUID();
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  readonly parsed: ApiUrl;
  readonly #trusts: Trusts | null;

  constructor(raw: IncomingMessage, response: ServerResponse, parsed: ApiUrl, trusts: Trusts | null) {
    this.raw = raw;
    this.response = response;
    this.parsed = parsed;
    this.#trusts = trusts;
  }

  get url(): string {
    return this.parsed.text;
  }

  get query(): ParsedQuery {
    return this.parsed.query;
  }

  get method(): string {
    return this.raw.method ?? '';
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
