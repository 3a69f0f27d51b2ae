import { parseArgs } from 'node:util';
import { installOnce } from '../support/install-once.ts';
import { askAsAssistant } from './assistants.ts';
import { useClientInBrowser } from './client-in-browser.ts';
import { useClientPackage } from './client-package.ts';
import { askWithCollectd } from './collectd.ts';
import { completeInShells } from './completion.ts';
import { askWithCurl } from './curl-and-jq.ts';
import { runDatadogCheck } from './datadog.ts';
import { chartFromKey } from './five-minutes.ts';
import { followInFluentBit } from './fluent-bit.ts';
import { runGeneratedClients } from './generated-clients.ts';
import { askAsInfinity } from './grafana.ts';
import { lintOpenapi } from './lint-openapi.ts';
import { followInN8n } from './n8n.ts';
import { askAsNagios } from './nagios.ts';
import { followInNodeRed } from './node-red.ts';
import { mapEntries } from './ocsf-and-ecs.ts';
import { streamToOtlp } from './otlp-logs.ts';
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
  assistants: askAsAssistant,
  completion: completeInShells,
  'curl-and-jq': askWithCurl,
  collectd: askWithCollectd,
  nagios: askAsNagios,
  prometheus: askWithPrometheus,
  'service-metrics': scrapeService,
  grafana: askAsInfinity,
  'five-minutes': chartFromKey,
  datadog: runDatadogCheck,
  'otlp-logs': streamToOtlp,
};
const HEAVY: Record<string, Client> = {
  client: useClientPackage,
  'client-in-browser': useClientInBrowser,
  'generated-clients': runGeneratedClients,
  zabbix: askWithZabbix,
  'node-red': followInNodeRed,
  postman: runCollection,
};
/** Only by name: what takes too long to install or compile for CI. */
const BY_NAME: Record<string, Client> = { n8n: followInN8n, 'fluent-bit': followInFluentBit };

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { light: { type: 'boolean' } },
});
const usual = values.light ? LIGHT : { ...LIGHT, ...HEAVY };
const clients = names.length > 0 ? { ...usual, ...BY_NAME } : usual;
const unknown = names.filter((name) => !(name in clients));
if (unknown.length > 0) {
  throw new Error(`No client is called ${unknown.join(', ')}: there are ${Object.keys(clients).join(', ')}.`);
}

installOnce('test/clients');
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
