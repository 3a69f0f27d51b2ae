import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { LARGE } from '../../src/api/send-static.ts';
import { inPackage } from '../../src/platform/package-root.ts';
import { needPackages } from '../clients/debian.ts';
import { type Extent, type Fault, Seen } from './fault.ts';
import { FLEET, get, quantile } from './load.ts';
import { onStage } from './stage.ts';

const ATTACKERS = 1_000;

/** A p99 below this, in milliseconds, is noise. */
const NOISE_MS = 25;

// Four concurrent requests on each connection, whose answers are read at 32 bytes per 3 seconds.
const SLOW_READS = ['-X', '-k', '4', '-w', '512', '-y', '1024', '-n', '3', '-z', '32'];

// slowhttptest's attacks on each connection; `-x`, `-i` and `-n` set their speed.
const ATTACKS: Record<string, (origin: string) => string[]> = {
  headers: (origin) => ['-H', '-i', '3', '-x', '24', '-u', `${origin}${FLEET}`],
  bodies: (origin) => ['-B', '-i', '3', '-x', '24', '-s', '8192', '-t', 'POST', '-u', `${origin}${FLEET}`],
  reads: (origin) => [...SLOW_READS, '-u', `${origin}/assets/${largestKeptOpen()}`],
  'large reads': (origin) => [...SLOW_READS, '-u', `${origin}/openapi.json`],
};

// Connections that send a body, or request a large answer, get an answer and are closed immediately.
const LET_GO = ['bodies', 'large reads'];

/** 1,000 connections send or read as slowly as allowed, while a good client continues. */
export const slowClients: Fault = {
  fault: 'slow headers, bodies, reads (slowhttptest)',
  figure: "1,000 connections: good client's p99 at most doubled; attackers closed within 15 s",
  async provoke(extent: Extent) {
    needPackages('slowhttptest');
    const seen = new Seen();
    await onStage(async (stage) => {
      const { service, key } = stage;
      // A second instance shows the effect of the machine's other load, including slowhttptest itself.
      const beside = await stage.instance();
      const origins = [service.origin, beside.origin] as const;
      await ask(origins, key, 2); // warm
      for (const [name, args] of Object.entries(ATTACKS)) {
        if (extent === 'short' && LET_GO.includes(name)) continue;
        const options = ['-c', `${ATTACKERS}`, '-r', '500', '-l', '25', '-p', '3', ...args(service.origin)];
        const attack = spawn('slowhttptest', options, { stdio: 'ignore' });
        const ended = once(attack, 'close');
        const watched = watch(Number(new URL(service.origin).port), ended);
        await wait(2_000);
        const [attacked, spared] = await ask(origins, key, 15);
        await ended;
        const { most, longest } = await watched;
        const [p99, calm] = [quantile(attacked, 0.99), quantile(spared, 0.99)];
        seen
          .atLeast(most, LET_GO.includes(name) ? 0 : ATTACKERS * 0.9, `${name}: connections at once`)
          .none(attacked.filter(Number.isNaN).length, `of ${attacked.length} good requests failed`)
          .atMost(p99, Math.max(2 * calm, NOISE_MS), `p99 beside ${Math.round(calm)} ms, attacked`, ' ms')
          .atMost(longest, 15, 'the longest attacker stayed', ' s');
      }
    });
    return seen;
  },
};

/** The largest script of the console whose answer leaves the connection open. */
function largestKeptOpen(): string {
  const assets = inPackage('console/dist/assets/');
  const sizes = readdirSync(assets)
    .map((name) => ({ name, size: statSync(new URL(name, assets)).size }))
    .filter(({ size }) => size <= LARGE)
    .sort((one, other) => other.size - one.size);
  if (!sizes[0]) throw new Error('The console is not built: npm run build -w console.');
  return sizes[0].name;
}

/**
 * A good client's latency at each of two services, in turn, in milliseconds; NaN for any status but 200. The client opens a
 * connection for each request.
 */
async function ask(
  origins: readonly [string, string],
  key: string,
  seconds: number,
): Promise<[number[], number[]]> {
  const took: [number[], number[]] = [[], []];
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; await wait(5)) {
    for (const at of [0, 1] as const) {
      const answer = await get(origins[at] + FLEET, key).catch(() => null);
      took[at].push(answer?.status === 200 ? answer.ms : Number.NaN);
    }
  }
  return took;
}

/** Connections to a port in the kernel's table: the most at one time, and the longest duration of one. */
async function watch(port: number, ended: Promise<unknown>): Promise<{ most: number; longest: number }> {
  const since = new Map<string, number>();
  let [most, longest, going] = [0, 0, true];
  void ended.then(() => {
    going = false;
  });
  while (going) {
    const now = performance.now();
    const there = established(port);
    for (const remote of since.keys()) if (!there.has(remote)) since.delete(remote);
    for (const remote of there) since.set(remote, since.get(remote) ?? now);
    most = Math.max(most, there.size);
    for (const began of since.values()) longest = Math.max(longest, (now - began) / 1_000);
    await wait(250);
  }
  return { most, longest };
}

// Columns of /proc/net/tcp: local and remote address as hexadecimal address:port, then the state; 01 is established.
function established(port: number): Set<string> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return new Set(
    rows.flatMap((row) => {
      const [, mine = '', remote = '', state] = row.trim().split(/\s+/);
      return mine.endsWith(local) && state === '01' ? [remote] : [];
    }),
  );
}
