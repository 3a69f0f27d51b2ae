import { readFileSync } from 'node:fs';
import type { Agent } from 'node:http';
import https from 'node:https';
import { getCACertificates } from 'node:tls';
import { certificatesIn } from '../../connections/connection-settings.ts';
import { plainHttp } from '../../platform/network/plain-http.ts';

/** After so long a connection is not used again, so that a service whose name has another address now is found there. */
const REDIAL_MS = 300_000;
/** A kept connection that nothing uses is closed. */
const IDLE_MS = 60_000;

let dialled: { protocol: string; agent: Agent; since: number } | null = null;

/** What keeps connections. HTTPS goes through the proxy of HTTPS_PROXY, if there is one. */
export function findAgent({ protocol }: URL): Agent {
  const now = performance.now();
  if (dialled?.protocol === protocol && now - dialled.since < REDIAL_MS) return dialled.agent;
  const options = { keepAlive: true, timeout: IDLE_MS };
  const agent =
    protocol === 'https:'
      ? new https.Agent({ ...options, ...readAuthorities(), proxyEnv: process.env })
      : new plainHttp.Agent(options);
  dialled = { protocol, agent, since: now };
  return agent;
}

/** Makes the next request dial anew, and trust what the file of NODE_EXTRA_CA_CERTS has by then. */
export function redial(): void {
  dialled = null;
}

/** Whom the last agent trusts, if it is not the list with which Node started. */
let trusted: { ca?: string[] } = {};

/**
 * Node reads the file of NODE_EXTRA_CA_CERTS once, and a collector runs for years. A file that can't be read now, or is half written,
 * changes nothing.
 */
function readAuthorities(): { ca?: string[] } {
  const path = process.env['NODE_EXTRA_CA_CERTS'];
  if (!path) return {};
  try {
    const written = certificatesIn(readFileSync(path, 'utf8'));
    const atStart = new Set(getCACertificates('extra'));
    const isSame = written === [...atStart].map((one) => `${one.trimEnd()}\n`).join('');
    trusted = isSame
      ? {}
      : { ca: [...getCACertificates('default').filter((one) => !atStart.has(one)), written] };
  } catch {
    // It is read again with the next agent.
  }
  return trusted;
}
