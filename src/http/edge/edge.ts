import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP, isIPv6, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type ApiError, badRequest, headersTooLarge, uriTooLong } from '../errors.ts';
import { isHost } from './host.ts';

/** Sizes from which a request is refused, in bytes. */
const LONGEST_URL = 8 * 1024;
const LARGEST_HEADERS = 16 * 1024;
const LARGEST_BODY = 64 * 1024;

/** What Node itself reads of a request line and its headers together, in bytes; beyond it answers 431 by itself. */
export const NODE_HEADER_LIMIT = LONGEST_URL + LARGEST_HEADERS;

/**
 * The URL as it is routed: without scheme and host, doubled slashes folded, no trailing slash, nothing escaped that
 * needs no escape (RFC 3986, 6.2.2.2), so that `/%61pi/` is `/api/` to everybody. A path whose percent-escapes can't be
 * decoded leads nowhere, as any other unknown path does.
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

/** A routed URL without the base path, empty or such as `/dbvitals`; a proxy may have taken it off already. */
export function belowBase(routed: string, basePath: string): string {
  if (basePath === '' || !routed.startsWith(basePath)) return routed;
  const rest = routed.slice(basePath.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : routed;
}

/**
 * Whether what trusted proxies said of a request can be: an address, a host, http or https. It goes into links and into the
 * log, and one that PostgreSQL can't store would fail all requests of its batch.
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

/** Whether a routed URL belongs to the API, known path or not. */
export function isApi(routed: string): boolean {
  return /^\/api(?:[/?]|$)/.test(routed);
}

/** Whether the request is in order as HTTP; null, or the error to answer it with. */
export function checkRequest(request: IncomingMessage): ApiError | null {
  if ((request.url ?? '').length > LONGEST_URL) return uriTooLong;
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

/** The token of the one `Authorization: Bearer` header; null when there is none, another scheme, or more than one. */
export function bearerToken(rawHeaders: readonly string[]): string | null {
  let found: string | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length !== 13 || name.toLowerCase() !== 'authorization') continue;
    if (found !== null) return null;
    found = rawHeaders[i + 1] ?? '';
  }
  // Only blanks and tabs may stand around a value (RFC 9110, 5.6.3): \s would take 0xA0 for one.
  return /^bearer +([^ \t]+)[ \t]*$/i.exec(found ?? '')?.[1] ?? null;
}

/** Lets a body pass unread; past 64 KiB the connection is closed, once the answer is out. */
export function ignoreBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined)
    return;
  let received = 0;
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received <= LARGEST_BODY) return;
    request.pause();
    response.once('finish', () => request.socket.destroy());
  });
}

/** The path as the activity log tells it: percent-escapes decoded once, nothing of a key in it. */
export function pagePath(routed: string): string {
  const end = routed.indexOf('?');
  const path = end === -1 ? routed : routed.slice(0, end);
  return recordable(path.includes('%') ? decodeURIComponent(path) : path);
}

// What PostgreSQL's text can't hold; keys, which must not be written anywhere; and what JSON leaves as it is although
// terminals and readers of lines act on it.
const UNRECORDABLE = /\0|[\u007f-\u009f\u2028\u2029]|dbv_live_[0-9A-Za-z]+/g;

/**
 * A stranger's text as it may be stored and logged: well-formed Unicode without NUL, key-shaped parts shortened, DEL,
 * C1 controls and line separators as `\u0085`.
 */
export function recordable(text: string): string {
  return text.toWellFormed().replace(UNRECORDABLE, (found) => {
    if (found === '\0') return '';
    return found.length === 1 ? `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}` : 'dbv_live_…';
  });
}

/** A client's address as it is told: without the IPv6 wrapping of an IPv4 one, a zone, or the port that some proxies add. */
export function plainAddress(address: string): string {
  const plain = /^\[|%|^[0-9.]+:/.test(address)
    ? address.replace(/^\[([^\]]*)\](?::\d+)?$|^([0-9.]+):\d+$/, '$1$2').replace(/%.*/, '')
    : address;
  return /^[0:]*:ffff:/i.test(plain) && isIPv6(plain) ? ipaddr.process(plain).toString() : plain;
}

/** The origin at which a client reached the service that named no host, as HTTP/1.0 allows. */
export function localOrigin(protocol: string, { localAddress, localPort }: Socket): string {
  const address = plainAddress(localAddress ?? 'localhost'); // a connection that was reset has no address any more
  const host = isIPv6(address) ? `[${address}]` : address;
  return `${protocol}://${host}${localPort === undefined ? '' : `:${localPort}`}`;
}
