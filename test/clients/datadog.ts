import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needPackages } from './debian.ts';
import type { SampleService } from './sample-service.ts';

const CHECK = join(import.meta.dirname, '../../docs/integrations/datadog');

// What the check takes from the Agent, which can't be had here: requests with the key, and a line for each value that it sends.
const BASE = `
import json, os, urllib.request

class Answer:
    def __init__(self, response): self.response = response
    def raise_for_status(self): pass
    def json(self): return json.load(self.response)

class Http:
    def get(self, url):
        key = open(os.environ["KEY_FILE"]).read()
        return Answer(urllib.request.urlopen(urllib.request.Request(url, headers={"Authorization": "Bearer " + key})))

class AgentCheck:
    OK, WARNING, CRITICAL, UNKNOWN = range(4)
    http = Http()
    def gauge(self, name, value, tags=()): print(json.dumps([self.__NAMESPACE__ + "." + name, value, list(tags)]))
    service_check = gauge
`;
const MAIN = `
import dbvitals, os
dbvitals.DbvitalsCheck().check({"url": os.environ["URL"], "metrics": ["connections_used_ratio", "cache_hit_ratio"]})
`;

/** The custom check, in Python without the Agent, sends the fleet, the tickets and two metrics of all databases. */
export async function runDatadogCheck(service: SampleService): Promise<string[]> {
  needPackages('python3');
  const folder = service.folder('datadog');
  mkdirSync(join(folder, 'datadog_checks'));
  writeFileSync(join(folder, 'datadog_checks/base.py'), BASE);
  const env = {
    PYTHONPATH: `${folder}:${CHECK}`,
    PYTHONDONTWRITEBYTECODE: '1',
    KEY_FILE: service.keyFile,
    URL: service.origin,
  };
  const { stdout, stderr } = spawnSync('/usr/bin/python3', ['-c', MAIN], { encoding: 'utf8', env });
  const wrong = stderr === '' ? [] : [`The check failed: ${stderr}`];
  const sent = stdout
    .split('\n')
    .filter(Boolean)
    .map((line): [name: string, value: number, tags: string[]] => JSON.parse(line));
  const count = (name: string) => sent.filter((one) => one[0] === `dbvitals.${name}`).length;
  const { summary } = await service.read<{ summary: { critical: number; total: number } }>(
    '/api/v1/health/fleet',
  );
  const critical = sent.find(
    ([name, , tags]) => name === 'dbvitals.connections' && tags[0] === 'status:critical',
  );
  if (critical?.[1] !== summary.critical)
    wrong.push(`${critical?.[1]} critical databases, not ${summary.critical}`);
  if (count('database') !== summary.total) wrong.push(`${count('database')} databases, not ${summary.total}`);
  for (const name of [
    'score',
    'tickets.critical_open',
    'measure.connections_used_ratio',
    'measure.cache_hit_ratio',
  ])
    if (count(name) === 0) wrong.push(`no ${name}`);
  return wrong;
}
