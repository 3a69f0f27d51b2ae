import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../contract/free-port.ts';
import { eventually, startProgram } from './program.ts';
import type { SampleService } from './sample-service.ts';

const FLOW = join(import.meta.dirname, '../../docs/integrations/node-red/activity-flow.json');
const PROGRAM = join(import.meta.dirname, 'node_modules/.bin/node-red');
/** A request limit so low that the walk is rejected on its way. */
const LIMIT = 8;

/** Node-RED without its editor follows Link headers through the log: every entry once, in order, with a 429 on the way. */
export async function followInNodeRed(service: SampleService): Promise<string[]> {
  const folder = service.folder('node-red');
  const limited = await limitedAccount(service);
  const entries = join(folder, 'entries.ndjson');
  writeFileSync(entries, '');
  copyFileSync(FLOW, join(folder, 'flows.json'));
  const settings = join(folder, 'settings.cjs');
  writeFileSync(settings, SETTINGS);
  const nodeRed = startProgram(
    PROGRAM,
    [
      '--settings',
      settings,
      '--userDir',
      folder,
      '--port',
      `${await freePort()}`,
      join(folder, 'flows.json'),
    ],
    {
      cwd: folder,
      env: { DBVITALS_URL: service.origin, DBVITALS_API_KEY: limited.key, DBVITALS_ENTRIES: entries },
    },
  );
  const idsNow = () =>
    [...readFileSync(entries, 'utf8').matchAll(/^\{"id":(\d+),/gm)].map(([, id]) => Number(id));
  const done = await eventually(() => (idsNow().length > limited.least ? true : undefined), 120);
  await nodeRed.stop();
  const ids = idsNow();
  const wrong: string[] = [];
  if (!done) wrong.push(`${ids.length} entries came, more than ${limited.least} were awaited`);
  const at = ids.findIndex((id, index) => id !== index + 1);
  if (at >= 0) wrong.push(`entry ${at + 1} came as ${ids[at]}`);
  if (!nodeRed.output().includes('dbvitals answered 429')) wrong.push('the limit was never reached');
  return wrong.length === 0 ? [] : [...wrong, `Node-RED said: ${nodeRed.output().slice(-2_000)}`];
}

const SETTINGS = `module.exports = {
  uiHost: '127.0.0.1', httpAdminRoot: false, httpNodeRoot: false, credentialSecret: false,
  telemetry: { enabled: false }, logging: { console: { level: 'info', metrics: false, audit: false } },
};
`;

/** A new account with 1,000 entries and a low request limit. */
async function limitedAccount(service: SampleService): Promise<{ key: string; least: number }> {
  const plan = ['--plan', 'enterprise', '--requests-per-minute', `${LIMIT}`];
  const { id } = await service.command<{ id: number }>('account', 'create', '--name', 'Walked', ...plan);
  await service.command('sample-data', '--account', `${id}`, '--activity', '1000');
  const { key } = await service.command<{ key: string }>(
    'key',
    'create',
    '--account',
    `${id}`,
    '--name',
    'node-red',
  );
  return { key, least: 1_000 };
}
