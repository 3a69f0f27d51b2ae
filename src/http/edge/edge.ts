import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP, isIPv6, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Rejection } from '../../platform/rejection.ts';
import { badRequest, headersTooLarge, uriTooLong } from '../errors.ts';
import { endConnection } from './end-connection.ts';
import { isHost } from './host.ts';

/** The size limits of a request, in bytes. */
export const LONGEST_URL = 8 * 1024;
const LARGEST_HEADERS = 16 * 1024;
export const LARGEST_BODY = 64 * 1024;

/** The most that Node reads of request line and headers together, in bytes. Beyond it Node answers 431 itself. */
export const NODE_HEADER_LIMIT = LONGEST_URL + LARGEST_HEADERS;

/**
 * The normalized URL for routing: no scheme or host, no double slashes, no trailing slash, no unnecessary escapes (RFC 3986,
 * 6.2.2.2). So `/%61pi/` is `/api/` everywhere. A path with invalid percent-escapes is handled like any other unknown path.
 */
export function routedUrl(url: string): string {
  if (!/\/\/|\/(?:$|\?)|%|^[^/]/.test(url)) return url;
  const [, path = '', query = ''] = /^(?:[a-z]+:\/\/[^/?#]*)?([^?]*)(.*)$/is.exec(url) ?? [];
  const folded = path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
  try {
    decodeURIComponent(folded);
    return folded.replace(/%[2-7][0-9a-f]/gi, unescaped) + query;
  } catch {
    return folded.replaceAll('%', '%25') + query;
  }
}

/** A routed URL without the base path, which is empty or such as `/dbvitals`. A proxy may have removed it already. */
export function belowBase(routed: string, basePath: string): string {
  if (basePath === '' || !routed.startsWith(basePath)) return routed;
  const rest = routed.slice(basePath.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : routed;
}

/**
 * Whether the forwarded headers of trusted proxies are valid: an address, a host, and http or https. They are used in links
 * and in the log, and a value that PostgreSQL can't store would fail all requests of its batch.
 */
export function isForwardedWell({
  ip,
  host,
  protocol,
}: {
  ip: string;
  host: string;
  protocol: string;
}): boolean {
  return isIP(plainAddress(ip)) !== 0 && /^https?$/.test(protocol) && (host === '' || isHost(host));
}

function unescaped(written: string): string {
  const character = decodeURIComponent(written);
  return /[\w.~-]/.test(character) ? character : written;
}

/** Whether a routed URL is below the API, even if its path is unknown, or that of assistants. */
export function isApi(routed: string): boolean {
  return /^\/(?:api(?:[/?]|$)|mcp(?:\?|$))/.test(routed);
}

/** Checks the request as HTTP. Returns null, or the error to answer. */
export function checkRequest(request: IncomingMessage): Rejection | null {
  if ((request.url ?? '').length > LONGEST_URL) return uriTooLong;
  // Node also reads 0.9 and 2.0 where 1.1 stands.
  if (request.httpVersionMajor !== 1) return badRequest;
  let size = 0;
  let hosts = 0;
  const texts = request.rawHeaders;
  for (let i = 0; i < texts.length; i += 1) {
    const text = texts[i] ?? '';
    size += text.length + 2;
    if (i % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host') hosts += 1;
  }
  if (size > LARGEST_HEADERS) return headersTooLarge;
  if (hosts > 1) return badRequest;
  const host = request.headers.host ?? (request.httpVersionMinor === 0 ? 'localhost' : '');
  return isHost(host) ? null : badRequest;
}

/** The token of the `Authorization: Bearer` header; null = no header, another scheme, or more than one. */
export function bearerToken(rawHeaders: readonly string[]): string | null {
  let found: string | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length !== 13 || name.toLowerCase() !== 'authorization') continue;
    if (found !== null) return null;
    found = rawHeaders[i + 1] ?? '';
  }
  const token = found?.startsWith('Bearer ') ? found.slice('Bearer '.length) : '';
  if (token !== '' && !token.includes(' ') && !token.includes('\t')) return token;
  // Only blanks and tabs may surround a value (RFC 9110, 5.6.3). \s would also match 0xA0.
  return /^bearer +([^ \t]+)[ \t]*$/i.exec(found ?? '')?.[1] ?? null;
}

/**
 * Ignores a body. One of more than 64 KiB closes the connection: once the answer is sent, or at once if it was sent before so
 * much of the body arrived. `ignoreRest` drops what follows, or the next request could be parsed before the answer is sent.
 */
export function ignoreBody(request: IncomingMessage, response: ServerResponse, ignoreRest: () => void): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (length === undefined && encoding === undefined) return;
  const end = () => endConnection(request.socket);
  if (Number(length) > LARGEST_BODY) {
    request.pause();
    ignoreRest();
    response.once('finish', end);
    return;
  }
  let received = 0;
  const count = (chunk: Buffer) => {
    received += chunk.length;
    if (received <= LARGEST_BODY) return;
    request.off('data', count).pause();
    ignoreRest();
    if (response.writableFinished) end();
    else response.once('finish', end);
  };
  // A read from now on: else Node would pass over the rest of the body without a count once the answer is sent.
  request.on('data', count).read(0);
}

/** The path for the activity log: percent-escapes decoded once, and no part of a key in it. */
export function pagePath(routed: string): string {
  const end = routed.indexOf('?');
  const path = end === -1 ? routed : routed.slice(0, end);
  return recordable(path.includes('%') ? decodeURIComponent(path) : path);
}

// Characters that PostgreSQL's text can't hold; keys, which must not be written anywhere; and characters that JSON does not
// escape although terminals and line readers act on them.
const UNRECORDABLE = /\0|[\u007f-\u009f\u2028\u2029]|dbv_live_[0-9A-Za-z]+/g;

/**
 * Makes a client's text safe to store and log: well-formed Unicode without NUL, with parts that look like keys shortened, and
 * with DEL, C1 controls and line separators written like `\u0085`.
 */
export function recordable(text: string): string {
  return text.toWellFormed().replace(UNRECORDABLE, (found) => {
    if (found === '\0') return '';
    return found.length === 1 ? `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}` : 'dbv_live_…';
  });
}

/** A client's address for logs and limits: no IPv6 prefix of an IPv4 address, no zone, and no port, which some proxies add. */
export function plainAddress(address: string): string {
  const plain = /^\[|%|^[0-9.]+:/.test(address)
    ? address.replace(/^\[([^\]]*)\](?::\d+)?$|^([0-9.]+):\d+$/, '$1$2').replace(/%.*/, '')
    : address;
  return /^[0:]*:ffff:/i.test(plain) && isIPv6(plain) ? ipaddr.process(plain).toString() : plain;
}

/** The origin for a client that sends no host, as HTTP/1.0 allows: the address that it connected to. */
export function localOrigin(protocol: string, { localAddress, localPort }: Socket): string {
  const address = plainAddress(localAddress ?? 'localhost'); // a reset connection no longer has an address
  const host = isIPv6(address) ? `[${address}]` : address;
  return `${protocol}://${host}${localPort === undefined ? '' : `:${localPort}`}`;
}
