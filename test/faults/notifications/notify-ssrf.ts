import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Fault, Seen } from '../fault.ts';
import type { SsrfResult } from './ssrf-stage.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Destinations that point inside. The stage has a network of its own, where private, metadata and one public address are on this
 * machine, and a name server that lies. The short form is the same.
 */
export const notifySsrf: Fault = {
  fault:
    'SSRF: names that resolve to private addresses, rebinding, redirects, IPv4 inside IPv6, other spellings, a failing resolver, credentials in the URL',
  figure: 'all refused with a sentence; 0 connections to an inner address; other requests sent meanwhile',
  async provoke() {
    const args = ['--net', '--mount', '--propagation', 'private', process.execPath, here('ssrf-stage.ts')];
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: here('../../certificates/receivers-authority.pem') };
    const { stdout } = await promisify(execFile)('unshare', args, { env, timeout: 120_000 });
    const seen: SsrfResult = JSON.parse(stdout);
    return new Seen()
      .atLeast(seen.cases, 150, 'cases')
      .none(seen.notRefused.length, `not refused (${seen.notRefused.join('; ')})`)
      .none(seen.reached, 'connections to inner addresses')
      .atMost(seen.slowestMs / 1_000, 6, 'slowest refusal', ' s')
      .atMost(seen.besideHangingMs / 1_000, 2, 'sent while 40 lookups hang in', ' s')
      .holds(`after rebinding: ${seen.rebound.join(', ')}`, seen.rebound.join() === '200 OK,200 OK')
      .holds(seen.redirect, /^307 Temporary Redirect: .* not followed\.$/.test(seen.redirect))
      .holds(`a private address that is allowed: ${seen.allowed}`, seen.allowed === '200 OK');
  },
};
