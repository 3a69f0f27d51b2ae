import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { useClientInBrowser } from './client-in-browser.ts';
import { useClientPackage } from './client-package.ts';
import { askWithCollectd } from './collectd.ts';
import { askWithCurl } from './curl-and-jq.ts';
import { askAsInfinity } from './grafana.ts';
import { lintOpenapi } from './lint-openapi.ts';
import { askAsNagios } from './nagios.ts';
import { followInNodeRed } from './node-red.ts';
import { mapEntries } from './ocsf-and-ecs.ts';
import { runCollection } from './postman.ts';
import { judgeContract } from './prism.ts';
import { askWithPrometheus } from './prometheus.ts';
import { type SampleService, startSampleService } from './sample-service.ts';
import { scrapeService } from './service-metrics.ts';
import { runScriptedInput } from './splunk.ts';
import { generateTypes } from './typescript.ts';
import { askWithZabbix } from './zabbix.ts';

/** Returns the problems, one per line. */
type Client = (service: SampleService) => string[] | Promise<string[]>;

// Runs clients and their tools against one service.
const LIGHT: Record<string, Client> = {
  openapi: () => lintOpenapi(),
  prism: () => judgeContract(),
  typescript: generateTypes,
  'ocsf-and-ecs': mapEntries,
  splunk: runScriptedInput,
  'curl-and-jq': askWithCurl,
  collectd: askWithCollectd,
  nagios: askAsNagios,
  prometheus: askWithPrometheus,
  'service-metrics': scrapeService,
  grafana: askAsInfinity,
};
const HEAVY: Record<string, Client> = {
  client: useClientPackage,
  'client-in-browser': useClientInBrowser,
  zabbix: askWithZabbix,
  'node-red': followInNodeRed,
  postman: runCollection,
};

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { light: { type: 'boolean' } },
});
const clients = values.light ? LIGHT : { ...LIGHT, ...HEAVY };
const unknown = names.filter((name) => !(name in clients));
if (unknown.length > 0) {
  throw new Error(`No client is called ${unknown.join(', ')}: there are ${Object.keys(clients).join(', ')}.`);
}

install();
const service = await startSampleService();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void service.stop().finally(() => process.exit(1)));
}
try {
  for (const [name, client] of Object.entries(clients)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const begun = performance.now();
    const found = await client(service);
    for (const line of found) console.log(line);
    const seconds = Math.round((performance.now() - begun) / 1000);
    console.log(`${name}: ${found.length === 0 ? 'green' : `RED, ${found.length} found`}, ${seconds} s`);
    if (found.length > 0) process.exitCode = 1;
  }
} finally {
  await service.stop();
}

/** Once for each lock file, because the clients are large. */
function install(): void {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const written = (path: string) => statSync(here + path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (written('node_modules/.package-lock.json') >= written('package-lock.json')) return;
  const { status } = spawnSync('npm', ['ci', '--silent'], { cwd: here, stdio: 'inherit' });
  if (status !== 0) throw new Error(`The clients could not be installed: run "npm ci" in ${here}.`);
}
