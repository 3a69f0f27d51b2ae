import { isIP } from 'node:net';
import { DESTINATION, ForbiddenAddress, requireAllowed } from '../../network/address.ts';

/**
 * Why nothing is sent to this URL, in one sentence; null if it may be tried. Only what the URL itself shows: a name is resolved
 * and judged when something is sent to it.
 */
export function urlProblem(text: string, allowPrivate: boolean): string | null {
  if (!URL.canParse(text)) return 'The URL is not valid: write it as https://hooks.example.com/path.';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'The URL must begin with https://.';
  if (url.username !== '' || url.password !== '') {
    return 'The URL contains a user name or password: remove it.';
  }
  if (url.protocol === 'http:' && !allowPrivate) {
    return 'The URL must begin with https://: http:// is allowed only if DBVITALS_ALLOW_PRIVATE_DESTINATIONS is yes.';
  }
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

/** The host of a URL as a resolver takes it: an IPv6 address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}
