import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type Extent, type Fault, Seen } from './fault.ts';
import { ask, during } from './flooded.ts';
import { FLEET, quantile } from './load.ts';
import { onStage, UNLIMITED } from './stage.ts';

const PROGRAM = fileURLToPath(new URL('pipeline.ts', import.meta.url));
const certificate = (part: string) =>
  fileURLToPath(new URL(`../certificates/server.${part}`, import.meta.url));

/** Connections that pipeline requests for a path. */
interface Attack {
  connections: number;
  path: string;
  with?: 'key' | 'TLS';
}

const ATTACKS: Attack[] = [
  { connections: 1, path: '/api/v1/x' },
  { connections: 1, path: '/livez' },
  { connections: 16, path: '/api/v1/x' },
  { connections: 16, path: '/livez' },
];

const MORE_ATTACKS: Attack[] = [
  { connections: 16, path: FLEET, with: 'key' },
  { connections: 16, path: '/api/v1/x', with: 'TLS' },
  { connections: 16, path: '/docs' },
  { connections: 16, path: '/console/api/me' },
];

// p99 of other clients in milliseconds, beside one connection and beside more.
const BOUND_MS = 100;
const BOUND_BESIDE_MANY_MS = 300;

// CI machines are busy, so the bound is loose: a service without a limit made others wait for 8 s.
const SHORT_MS = 1_000;

/** Pipelined bursts whose answers are read, beside clients that send one request at a time. */
export const pipelining: Fault = {
  fault: 'one connection pipelines without a key, 64 KiB at a time; then 16 do',
  figure: "p99 of another client's `/livez` and fleet under 100 ms; under 300 ms",
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const seen = new Seen();
      const seconds = extent === 'short' ? 4 : 30;
      const greedy = await stage.account(...UNLIMITED);
      const tls = { TLS_CERT_FILE: certificate('pem'), TLS_KEY_FILE: certificate('key') };
      const secure = extent === 'short' ? null : await stage.instance({ ...tls, PORT: '0' });
      const { origin } = stage.service;
      for (const cold of [origin, secure?.origin ?? origin]) await beside(cold, stage.key, during(1));
      const calm = await beside(origin, stage.key, during(2));
      seen.holds(`alone p99 ${Math.round(p99(calm.livez))} and ${Math.round(p99(calm.fleet))} ms`, true);
      for (const attack of extent === 'short' ? ATTACKS : [...ATTACKS, ...MORE_ATTACKS]) {
        const { connections, path } = attack;
        const target = attack.with === 'TLS' && secure ? secure.origin : origin;
        const flooding = pipeline(target, attack, seconds, attack.with === 'key' ? greedy.key : undefined);
        const took = await beside(target, stage.key, during(seconds));
        const bound = extent === 'short' ? SHORT_MS : connections === 1 ? BOUND_MS : BOUND_BESIDE_MANY_MS;
        const name = `${connections} × ${path}${attack.with === undefined ? '' : ` with ${attack.with}`}`;
        seen
          .atLeast(await flooding, 1_000, `${name} answered`)
          .atMost(p99(took.livez), bound, 'p99 of /livez', ' ms')
          .atMost(p99(took.fleet), bound, 'of fleet', ' ms')
          .none([...took.livez, ...took.fleet].filter(Number.isNaN).length, 'failed');
      }
      return seen;
    }),
};

async function beside(origin: string, key: string, going: () => boolean) {
  const [livez, fleet] = await Promise.all([
    ask(`${origin}/livez`, key, going),
    ask(origin + FLEET, key, going),
  ]);
  return { livez, fleet };
}

function p99(took: number[]): number {
  return quantile(took, 0.99);
}

/** Pipelines requests from a separate process. Returns how many were answered. */
async function pipeline(
  origin: string,
  { connections, path }: Attack,
  seconds: number,
  key: string | undefined,
): Promise<number> {
  const args = [PROGRAM, origin, `${connections}`, `${seconds}`, path];
  const env = { ...process.env, ...(key === undefined ? {} : { FLOOD_KEY: key }) };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return Number(printed);
}
