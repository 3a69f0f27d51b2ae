import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { PASSWORD, PostgresServer } from '../checks/postgres-server.ts';
import { freePort } from '../contract/free-port.ts';
import { eventually, startProgram } from './program.ts';
import type { SampleService } from './sample-service.ts';

const WORKFLOW = join(import.meta.dirname, '../../docs/integrations/n8n/new-tickets.json');
/** Kept between runs: 2,363 packages of 2.9 GB. 2.41.3 needs a package that npm has not. */
const FOLDER = process.env['N8N_FOLDER'] ?? join(import.meta.dirname, '../../node_modules/.cache/n8n');
const PROGRAM = join(FOLDER, 'node_modules/.bin/n8n');
const VERSION = '2.41.1';
const WORKFLOW_ID = 'dbvitalsTickets1';
const CREDENTIAL = { id: 'dbvitalsKey00001', name: 'dbvitals' };

interface Workflow {
  nodes: { name: string; parameters: Record<string, unknown>; [field: string]: unknown }[];
  connections: Record<string, unknown>;
  [field: string]: unknown;
}

/** n8n runs the page's workflow: each ticket comes once, and once more after it changed. */
export async function followInN8n(service: SampleService): Promise<string[]> {
  install();
  const store = await PostgresServer.start();
  await store.pause();
  await store.resume({ max_connections: '100', shared_preload_libraries: '' });
  const folder = service.folder('n8n');
  const ids: number[] = [];
  const receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    ids.push((JSON.parse(body) as { id: number }).id);
    response.end('{}');
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = receiver.address();
  const sink = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
  const env = await settings(folder, store);
  await importWorkflow(service, { folder, env, sink });
  const n8n = startProgram(PROGRAM, ['start'], { cwd: folder, env });
  const wrong: string[] = [];
  try {
    wrong.push(...(await judge(service, ids)));
  } finally {
    await n8n.stop();
    receiver.closeAllConnections();
    receiver.close();
    await store.stop();
  }
  return wrong.length === 0 ? [] : [...wrong, `n8n said: ${n8n.output().slice(-3_000)}`];
}

async function judge(service: SampleService, ids: readonly number[]): Promise<string[]> {
  const { meta } = await service.read<{ meta: { total: number } }>('/api/v1/ops/tickets?per_page=1');
  const all = await eventually(() => (ids.length >= meta.total ? true : undefined), 120);
  if (!all) return [`${ids.length} tickets came, ${meta.total} were awaited`];
  if (new Set(ids).size !== meta.total) return ['a ticket came twice'];
  const [open] = (await service.read<{ data: { id: number }[] }>('/api/v1/ops/tickets?status=open')).data;
  await service.command('ticket', 'acknowledge', `${open?.id}`, '--account', `${service.accountId}`);
  const changed = await eventually(() => (ids.length > meta.total ? true : undefined), 60);
  if (!changed) return ['a changed ticket did not come'];
  const later = ids.slice(meta.total);
  return later.every((id) => id === open?.id) && later.length === 1 ? [] : [`after a change came ${later}`];
}

/** Without install scripts: they fetch programs of native modules from elsewhere, or compile them. So it has its data in PostgreSQL. */
function install(): void {
  if (existsSync(PROGRAM)) return;
  mkdirSync(FOLDER, { recursive: true });
  const args = ['install', `n8n@${VERSION}`, '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  const { status } = spawnSync('npm', [...args, '--prefix', FOLDER], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`n8n could not be installed into ${FOLDER}.`);
}

async function settings(
  folder: string,
  { host, port, database }: PostgresServer,
): Promise<Record<string, string>> {
  return {
    DB_TYPE: 'postgresdb',
    DB_POSTGRESDB_HOST: host,
    DB_POSTGRESDB_PORT: `${port}`,
    DB_POSTGRESDB_DATABASE: database,
    DB_POSTGRESDB_USER: 'postgres',
    DB_POSTGRESDB_PASSWORD: PASSWORD,
    N8N_USER_FOLDER: folder,
    N8N_PORT: `${await freePort()}`,
    N8N_LISTEN_ADDRESS: '127.0.0.1',
    N8N_RUNNERS_BROKER_PORT: `${await freePort()}`,
    N8N_DIAGNOSTICS_ENABLED: 'false',
    N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
    N8N_TEMPLATES_ENABLED: 'false',
    N8N_PERSONALIZATION_ENABLED: 'false',
  };
}

/** Imports the key and the page's workflow, as the page says, with a node that posts each ticket to `sink`, every 5 s. */
async function importWorkflow(
  service: SampleService,
  { folder, env, sink }: { folder: string; env: Record<string, string>; sink: string },
): Promise<void> {
  const { key } = await service.newKey('n8n');
  const data = { name: 'Authorization', value: `Bearer ${key}` };
  const credentials = join(folder, 'credentials.json');
  writeFileSync(credentials, JSON.stringify([{ ...CREDENTIAL, type: 'httpHeaderAuth', data }]));
  const text = readFileSync(WORKFLOW, 'utf8').replaceAll('https://dbvitals.example.com', service.origin);
  const workflow = JSON.parse(text) as Workflow;
  for (const node of workflow.nodes) {
    if (node.name === 'Changed tickets') node['credentials'] = { httpHeaderAuth: CREDENTIAL };
    if (node.name === 'Every minute')
      node.parameters = { rule: { interval: [{ field: 'seconds', secondsInterval: 5 }] } };
  }
  workflow.nodes.push({
    parameters: {
      method: 'POST',
      url: sink,
      sendBody: true,
      specifyBody: 'json',
      jsonBody: '={{ JSON.stringify($json) }}',
      options: {},
    },
    id: 'sink',
    name: 'Yours',
    type: 'n8n-nodes-base.httpRequest',
    typeVersion: 4.2,
    position: [880, 0],
  });
  workflow.connections['Tickets'] = { main: [[{ node: 'Yours', type: 'main', index: 0 }]] };
  const file = join(folder, 'workflow.json');
  writeFileSync(file, JSON.stringify({ ...workflow, id: WORKFLOW_ID, active: false }));
  for (const args of [
    ['import:credentials', `--input=${credentials}`],
    ['import:workflow', `--input=${file}`],
    ['publish:workflow', `--id=${WORKFLOW_ID}`],
  ]) {
    const { PATH = '' } = process.env;
    const options = { cwd: folder, env: { PATH, HOME: folder, ...env }, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(PROGRAM, args, options);
    if (status !== 0) throw new Error(`n8n ${args.join(' ')}: ${stdout}${stderr}`);
  }
}
