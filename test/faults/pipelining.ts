import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type Extent, type Fault, Seen } from './fault.ts';
import { ask, during } from './flooded.ts';
import { FLEET, quantile } from './load.ts';
import { onStage, type Stage } from './stage.ts';

const PROGRAM = fileURLToPath(new URL('pipeline.ts', import.meta.url));

// p99 of other clients in milliseconds, by the number of connections that pipeline.
const BOUNDS: [connections: number, ms: number][] = [
  [1, 100],
  [16, 300],
];

// CI's machine does other work, and a service without a bound made others wait for 8 s.
const SHORT_MS = 1_000;

/** Bursts of requests without a key, whose answers are taken, beside clients that ask one by one. */
export const pipelining: Fault = {
  fault: 'one connection pipelines without a key, 64 KiB at a time; then 16 do',
  figure: "p99 of another client's `/livez` and fleet under 100 ms; under 300 ms",
  provoke: (extent: Extent) =>
    onStage(
      async (stage) => {
        const seconds = extent === 'short' ? 4 : 30;
        const seen = new Seen();
        await beside(stage, during(1));
        const calm = await beside(stage, during(2));
        seen.holds(`alone p99 ${told(calm)}`, true);
        for (const [connections, ms] of BOUNDS) {
          for (const path of ['/api/v1/x', '/livez']) {
            const flooding = pipeline(stage, connections, seconds, path);
            const took = await beside(stage, during(seconds));
            const name = `${connections} × ${path}: p99`;
            seen
              .atLeast(await flooding, 1_000, `${connections} × ${path} answered`)
              .atMost(
                quantile(took.livez, 0.99),
                extent === 'short' ? SHORT_MS : ms,
                `${name} of /livez`,
                ' ms',
              )
              .atMost(
                quantile(took.fleet, 0.99),
                extent === 'short' ? SHORT_MS : ms,
                `${name} of fleet`,
                ' ms',
              )
              .none([...took.livez, ...took.fleet].filter(Number.isNaN).length, 'failed');
          }
        }
        return seen;
      },
      { LOG_LEVEL: 'info' },
    ),
};

interface Took {
  livez: number[];
  fleet: number[];
}

async function beside({ service, key }: Stage, going: () => boolean): Promise<Took> {
  const { origin } = service;
  const [livez, fleet] = await Promise.all([
    ask(`${origin}/livez`, key, going),
    ask(origin + FLEET, key, going),
  ]);
  return { livez, fleet };
}

function told({ livez, fleet }: Took): string {
  return `${Math.round(quantile(livez, 0.99))} ms and ${Math.round(quantile(fleet, 0.99))} ms`;
}

/** Pipelines from a process apart; gives how many requests were answered. */
async function pipeline(
  { service }: Stage,
  connections: number,
  seconds: number,
  path: string,
): Promise<number> {
  const args = [PROGRAM, new URL(service.origin).port, connections, seconds, path].map(String);
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return Number(printed);
}
