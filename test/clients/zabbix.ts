import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { oldPrograms, PostgresServer } from '../checks/postgres-server.ts';
import { freePort } from '../contract/free-port.ts';
import { needPackages } from './debian.ts';
import { eventually, type Program } from './program.ts';
import type { SampleService } from './sample-service.ts';
import { type ZabbixApi, zabbixApi } from './zabbix-api.ts';
import { fill, startFrontend, startServer } from './zabbix-programs.ts';

const TEMPLATE = join(import.meta.dirname, '../../docs/integrations/zabbix/dbvitals-template.yaml');

/**
 * Runs Zabbix's server and frontend on a separate PostgreSQL, imports the template and links a host to it. Items, discovered
 * databases and problems must match the API.
 */
export async function askWithZabbix(service: SampleService): Promise<string[]> {
  needPackages('zabbix-server-pgsql', 'zabbix-frontend-php', 'php-cli', 'php-pgsql');
  const folder = service.folder('zabbix');
  const store = await PostgresServer.start(oldPrograms()); // Debian's Zabbix supports 13 to 15
  await store.pause();
  await store.resume({ max_connections: '100', shared_preload_libraries: '' });
  const programs: Program[] = [];
  try {
    await fill(store);
    const port = await freePort();
    programs.push(startFrontend(folder, store, port));
    const call = await zabbixApi(`http://127.0.0.1:${port}/api_jsonrpc.php`);
    const hostids = await addHost(call, service);
    programs.push(await startServer(folder, store));
    return await compare(call, service, hostids, () =>
      programs.map((program) => program.output()).join('\n'),
    );
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
    await store.stop();
  }
}

async function addHost(call: ZabbixApi, service: SampleService): Promise<string[]> {
  const all = { createMissing: true };
  await call('configuration.import', {
    format: 'yaml',
    source: readFileSync(TEMPLATE, 'utf8'),
    rules: { groups: all, templates: all, items: all, triggers: all, discoveryRules: all },
  });
  const [template] = await call<{ templateid: string }[]>('template.get', {
    filter: { host: 'dbvitals by HTTP' },
  });
  const { groupids } = await call<{ groupids: string[] }>('hostgroup.create', { name: 'Databases' });
  const { hostids } = await call<{ hostids: string[] }>('host.create', {
    host: 'dbvitals',
    groups: [{ groupid: groupids[0] }],
    templates: [{ templateid: template?.templateid }],
    macros: [
      { macro: '{$DBVITALS.URL}', value: service.origin },
      { macro: '{$DBVITALS.KEY}', value: service.key, type: '1' },
      { macro: '{$DBVITALS.EVERY}', value: '2s' },
    ],
  });
  return hostids;
}

async function compare(
  call: ZabbixApi,
  service: SampleService,
  hostids: string[],
  said: () => string,
): Promise<string[]> {
  const expected = await expectedOf(service);
  let values: Record<string, string> = {};
  let problems: string[] = [];
  const settled = await eventually(async () => {
    const items = await call<{ key_: string; lastvalue: string; lastclock: string }[]>('item.get', {
      hostids,
      output: ['key_', 'lastvalue', 'lastclock'],
    });
    values = Object.fromEntries(
      items.filter((item) => item.lastclock !== '0').map((item) => [item.key_, item.lastvalue]),
    );
    problems = (await call<{ name: string }[]>('problem.get', { hostids, output: ['name'] })).map(
      ({ name }) => name,
    );
    return wrongOf(expected, values, problems).length === 0 ? true : undefined;
  }, 90);
  return settled ? [] : [...wrongOf(expected, values, problems), `Zabbix said: ${said().slice(-3_000)}`];
}

interface Expected {
  values: Record<string, string>;
  problems: string[];
}

async function expectedOf(service: SampleService): Promise<Expected> {
  type Fleet = {
    data: { id: number; name: string; score: number | null; status: string }[];
    summary: object;
  };
  const { data, summary } = await service.read<Fleet>('/api/v1/health/fleet');
  const stats = await service.read<{ data: Record<string, number> }>('/api/v1/ops/stats');
  const { avg_resolution_hours: _, ...counts } = stats.data;
  const entries = [
    ...Object.entries(summary).map(([name, value]) => [`dbvitals.fleet.${name}`, value]),
    ...Object.entries(counts).map(([name, value]) => [`dbvitals.stats.${name}`, value]),
    ...data.filter(({ score }) => score !== null).map(({ id, score }) => [`dbvitals.score[${id}]`, score]),
    ...data.map(({ id, status }) => [`dbvitals.status[${id}]`, status]),
  ];
  return {
    values: Object.fromEntries(entries.map(([name, value]) => [name, String(value)])),
    problems: [
      ...data.filter(({ status }) => status === 'critical').map(({ name }) => `${name}: critical`),
      'Critical tickets are open',
    ],
  };
}

function wrongOf(expected: Expected, values: Record<string, string>, problems: string[]): string[] {
  return [
    ...Object.entries(expected.values)
      .filter(([name, value]) => values[name] !== value)
      .map(([name, value]) => `${name} is ${values[name]}, the API says ${value}`),
    ...expected.problems.filter((name) => !problems.includes(name)).map((name) => `no problem "${name}"`),
    ...problems.filter((name) => !expected.problems.includes(name)).map((name) => `a problem "${name}"`),
  ];
}
