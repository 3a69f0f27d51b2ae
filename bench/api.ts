import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Figure, under } from './figure.ts';
import { describeMachine } from './machine.ts';
import { measureOne, NAMES } from './measure-one.ts';
import {
  costPlot,
  costTable,
  figureTable,
  generalTable,
  limitTable,
  PLOT,
  readTable,
  standingTable,
} from './report.ts';
import { measureRivals, type RivalResults } from './rivals.ts';
import { buildProgram, removeDataDirs, stopServers } from './servers.ts';
import { measureSize } from './size.ts';

// Compares the API with other servers and across sizes: `npm run bench` writes RESULTS.md and the plot beside this file.
// ` -- --only NAME` measures one read in less than a minute, ` -- --quick` all but the sizes in few rounds; both write nothing.
// `--profile FOLDER` keeps a CPU profile of the service, with `--only`. `--rounds`, `--seconds` (per round) and `--entries` (of
// the largest account) are for testing the benchmark itself. Requires Linux, a quiet machine, and 10 GB in TMPDIR.

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    profile: { type: 'string' },
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    seconds: { type: 'string' },
    entries: { type: 'string', default: '10000000' },
  },
});
const load = {
  connections: 256,
  readers: 64,
  rounds: number('rounds', values.rounds ?? (values.quick ? '3' : '10'), 1),
  seconds: number('seconds', values.seconds ?? (values.only ? '0.7' : '1'), 0.1),
};
const entries = number('entries', values.entries, 10_000);
const MEMORY_LIMIT_MB = 250;

if (values.only !== undefined && !NAMES.includes(values.only))
  throw new Error(`--only takes one of: ${NAMES.join(', ')}.`);
if (process.platform !== 'linux') throw new Error('Run it on Linux: it reads processor time from /proc.');
// Stopping the servers makes the current step fail. Under npm, Ctrl-C sends the signal twice.
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    interrupted = true;
    void stopServers();
  });
}
try {
  await run();
} finally {
  await stopServers();
  removeDataDirs();
}

async function run(): Promise<void> {
  say('build');
  buildProgram();
  if (values.only !== undefined) {
    const flags =
      values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(values.profile)}`];
    const { figures, reads, standings } = await measureOne(say, values.only, flags, load);
    const tables = reads.length > 0 ? [readTable(reads), limitTable(reads)] : [standingTable(standings)];
    print([figureTable(figures), ...tables]);
    return;
  }
  const started = performance.now();
  const rivals = await measureRivals(say, load);
  const machine = describeMachine(rivals.postgresVersion);
  const memoryFigure = (mb: number) =>
    under('service process, memory at its peak', MEMORY_LIMIT_MB, mb, 'MB');
  if (values.quick) {
    const figures = [...rivals.figures, memoryFigure(rivals.memory)];
    print([machine.join('\n'), figureTable(figures), ...sections(rivals), standingTable(rivals.standings)]);
    return;
  }
  const size = await measureSize(say, entries, rivals.bare, load);
  const figures: Figure[] = [
    ...rivals.figures,
    ...size.figures,
    memoryFigure(Math.max(rivals.memory, size.memory)),
  ];
  const minutes = (performance.now() - started) / 60_000;
  const parts = [
    '# Results of `npm run bench`',
    [...machine, `${load.rounds} rounds of ${load.seconds} s; all in ${minutes.toFixed(1)} minutes`]
      .map((line) => `- ${line}`)
      .join('\n'),
    'Load, service and PostgreSQL share the cores; the service is built and runs as the package and the image run it, with `LOG_LEVEL=warn`. Where a read or a kept answer has two figures, CPU time decides. What is measured, and how: [0023](../docs/decisions/0023-benchmark.md). Where the time of a request goes: [0007](../docs/decisions/0007-the-gate.md#the-gate-admits-a-batch-of-requests-with-one-sql-statement).',
    '## Figures',
    figureTable(figures),
    ...sections(rivals),
    '## Endpoint 1 beside its rivals, and by mixes',
    `${load.connections} connections ask for endpoint 1, ${load.readers} for the mixes. Medians of the rounds; \`of bare\` is of the ratios within a round.`,
    standingTable([...rivals.standings, ...size.standings]),
    '## Cost against size',
    `![Median time of a page against the number of entries](${PLOT})`,
    `Pages of 100 entries, asked for one after the other over one connection, each recorded before it is answered. \`sample-data\` wrote the largest account in ${Math.round(size.seconds)} s.`,
    costTable(size.sizes, size.costs),
  ];
  writeFileSync(join(import.meta.dirname, 'RESULTS.md'), `${parts.join('\n\n')}\n`);
  writeFileSync(join(import.meta.dirname, PLOT), costPlot(size.sizes, size.costs));
  print(parts);
}

/** The reads beside the plain server, the physical limits and a general server. */
function sections({ reads, general }: RivalResults): string[] {
  return [
    '## Reads beside a plain server',
    `${load.readers} connections. The plain server is \`node:http\` and \`pg\`: one named select of the same rows, and no key, limit or record. CPU time per answer decides, because rates swing by half with what else the machine does: its ratio says how many answers the service gives for the plain server's CPU time of one, Node and PostgreSQL together. Medians of the rounds, ratios within a round.`,
    readTable(reads),
    'What such an answer costs at least, in µs of CPU time: a bare `node:http` answer of the same bytes, and a bare `select` of the same rows by `pg`.',
    limitTable(reads),
    'PostGraphile answers by GraphQL from the same store, without a key, a limit, a record or the total. Hasura and PostgREST are not in the npm registry.',
    generalTable(general, reads),
  ];
}

function number(name: string, text: string, least: number): number {
  if (Number(text) >= least) return Number(text);
  throw new Error(`--${name} must be a number of at least ${least}.`);
}

function say(step: string): void {
  if (interrupted) throw new Error('Interrupted.');
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${step} …\n`);
}

function print(parts: readonly string[]): void {
  process.stdout.write(`${parts.join('\n\n')}\n`);
}
