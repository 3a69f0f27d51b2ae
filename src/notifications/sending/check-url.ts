import { isIP } from 'node:net';
import { DESTINATION, ForbiddenAddress, requireAllowed } from '../../platform/network/address.ts';

/** The protocols of a kind of receiver: one with TLS, and one that only private receivers may have. */
const PROTOCOLS = {
  http: { secure: 'https:', plain: 'http:', example: 'https://hooks.example.com/path' },
  syslog: { secure: 'syslog+tls:', plain: 'syslog+tcp:', example: 'syslog+tls://logs.example.com:6514' },
};

/**
 * Why nothing is sent to this URL, in one sentence; null if it may be tried. Only what the URL itself shows: a name is resolved
 * and judged when something is sent to it.
 */
export function urlProblem(
  text: string,
  allowPrivate: boolean,
  kind: keyof typeof PROTOCOLS = 'http',
): string | null {
  const { secure, plain, example } = PROTOCOLS[kind];
  if (!URL.canParse(text)) return `The URL is not valid: write it as ${example}.`;
  const url = new URL(text);
  if (url.protocol !== secure && url.protocol !== plain) return `The URL must begin with ${secure}//.`;
  if (url.username !== '' || url.password !== '') {
    return 'The URL contains a user name or password: remove it.';
  }
  if (url.protocol === plain && !allowPrivate) {
    return `The URL must begin with ${secure}//: ${plain}// is allowed only if DBVITALS_ALLOW_PRIVATE_DESTINATIONS is yes.`;
  }
  if (url.hostname === '') return `The URL has no host: write it as ${example}.`;
  const host = hostOf(url);
  if (isIP(host) === 0) return null;
  try {
    requireAllowed(host, host, allowPrivate, DESTINATION);
    return null;
  } catch (error) {
    if (error instanceof ForbiddenAddress) return `${error.message}.`;
    throw error;
  }
}

/** The host of a URL as a resolver takes it: an IPv6 address without brackets. Numbers of IPv4 are read as in a URL of HTTP. */
export function hostOf(url: URL): string {
  const asHttp = `https://${url.host}`;
  const { hostname } = /^https?:$/.test(url.protocol) || !URL.canParse(asHttp) ? url : new URL(asHttp);
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
