import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needPackages } from './debian.ts';
import { eventually, startProgram } from './program.ts';
import type { SampleService } from './sample-service.ts';

const FILE = join(import.meta.dirname, '../../docs/integrations/collectd/dbvitals.conf');

/** collectd reads `dbvitals.conf` and writes curl_json's values as CSV, which must match the API. */
export async function askWithCollectd(service: SampleService): Promise<string[]> {
  needPackages('collectd-core', 'libyajl2', 'libcurl3-gnutls');
  const folder = service.folder('collectd');
  const ours = readFileSync(FILE, 'utf8')
    .replaceAll('https://dbvitals.example.com', service.origin)
    .replaceAll('<API_KEY>', service.key);
  writeFileSync(join(folder, 'dbvitals.conf'), ours, { mode: 0o600 });
  const configuration = `
Hostname "probe"
FQDNLookup false
BaseDir "${folder}"
PIDFile "${folder}/pid"
LoadPlugin logfile
<Plugin logfile>
  File stdout
</Plugin>
LoadPlugin csv
<Plugin csv>
  DataDir "${folder}"
</Plugin>
Include "${folder}/dbvitals.conf"
`;
  writeFileSync(join(folder, 'collectd.conf'), configuration);
  const collectd = startProgram('/usr/sbin/collectd', ['-f', '-C', join(folder, 'collectd.conf')], {
    cwd: folder,
  });
  const expected = await expectedOf(service);
  const seen = await eventually(() => {
    const values = valuesIn(folder);
    return Object.keys(values).length >= Object.keys(expected).length ? values : undefined;
  }, 20);
  await collectd.stop();
  if (!seen) return [`collectd wrote ${JSON.stringify(valuesIn(folder))}; it said ${collectd.output()}`];
  return Object.entries(expected)
    .filter(([name, value]) => seen[name] !== value)
    .map(([name, value]) => `${name} is ${seen[name]}, the API says ${value}`);
}

async function expectedOf(service: SampleService): Promise<Record<string, number>> {
  type Counts = Record<string, number>;
  const { summary } = await service.read<{ summary: Counts }>('/api/v1/health/fleet');
  const { data } = await service.read<{ data: Counts }>('/api/v1/ops/stats');
  delete data['avg_resolution_hours'];
  const named = (group: string, of: string, values: Record<string, number>) =>
    Object.entries(values).map(([name, value]): [string, number] => [`${group}/${of}-${name}`, value]);
  return Object.fromEntries([...named('fleet', 'summary', summary), ...named('tickets', 'data', data)]);
}

/** The first value of each CSV file, such as `fleet/summary-critical`. */
function valuesIn(folder: string): Record<string, number> {
  const values: Record<string, number> = {};
  for (const path of globSync('probe/dbvitals-*/count-*', { cwd: folder })) {
    const [, group = '', name = ''] = /dbvitals-(\w+)\/count-(\w+-\w+)-\d{4}-/.exec(path) ?? [];
    const line = readFileSync(join(folder, path), 'utf8').split('\n')[1];
    if (line) values[`${group}/${name}`] = Number(line.split(',')[1]);
  }
  return values;
}
