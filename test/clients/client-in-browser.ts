import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startService } from '../contract/running-service.ts';
import { needPackages } from './debian.ts';
import type { SampleService } from './sample-service.ts';

const CLIENT = join(import.meta.dirname, '../../client');

/** `@dbvitals/client` in Chromium, from a page of an allowed origin and of one that is not allowed. */
export async function useClientInBrowser({ folder }: SampleService): Promise<string[]> {
  needPackages('chromium-headless-shell');
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: CLIENT });
  const page = { html: '' };
  const server = createServer(({ url = '' }, response) => {
    if (url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(page.html);
    else if (url.endsWith('.js'))
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(script(url));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;

  const home = folder('browser');
  const service = await startService(
    { DBVITALS_DATA_DIR: join(home, 'data'), DBVITALS_CORS_ORIGINS: origin },
    ['--no-monitor'],
  );
  try {
    const [, key = ''] = await service.says(/API key +(dbv_live_\w{49})/);
    page.html = PAGE.replace('URL', service.origin).replace('KEY', key);
    const allowed = await open(`${origin}/`, home);
    const refused = await open(`${origin.replace('127.0.0.1', 'localhost')}/`, home);
    return [
      ...(allowed === 'dbvitals store; entries 1 2 3, then 4; not_found with its request'
        ? []
        : [`allowed: ${allowed}`]),
      ...(/^failed: unreachable .*allows this origin/.test(refused) ? [] : [`refused: ${refused}`]),
    ];
  } finally {
    await service.stop();
    server.close();
    server.closeAllConnections();
  }
}

/** The page's final text. */
async function open(url: string, home: string): Promise<string> {
  const flags = ['--no-sandbox', '--disable-gpu', `--user-data-dir=${join(home, 'chromium')}`];
  const asked = [...flags, '--virtual-time-budget=30000', '--dump-dom', url];
  const { stdout } = await promisify(execFile)('chromium-headless-shell', asked, { timeout: 60_000 });
  return /<output>(.*)<\/output>/s.exec(stdout)?.[1] ?? `nothing: ${stdout}`;
}

function script(url: string): string {
  const file =
    url === '/openapi-fetch.js'
      ? join(CLIENT, '../node_modules/openapi-fetch/dist/index.mjs')
      : join(CLIENT, 'dist', url);
  return readFileSync(file, 'utf8');
}

const PAGE = `<!doctype html><output></output>
<script type="importmap">{ "imports": { "openapi-fetch": "/openapi-fetch.js" } }</script>
<script type="module">
import { createClient } from '/index.js';
const output = document.querySelector('output');
try {
  const dbvitals = createClient({ baseUrl: 'URL', apiKey: 'KEY' });
  const { data } = await dbvitals.fleet();
  const ids = [];
  for await (const { id } of dbvitals.activity({ per_page: 1, order: 'asc', to: '2100-01-01' })) {
    ids.push(id);
    if (ids.length === 3) break;
  }
  const following = dbvitals.activity.follow({ afterId: 3 });
  const { value } = await following.next();
  const error = await dbvitals.latestCheck(99).catch((error) => error);
  output.textContent = data[0].name + '; entries ' + ids.join(' ') + ', then ' + value.id + '; ' + error.code +
    (error.requestId ? ' with its request' : '');
} catch (error) {
  output.textContent = 'failed: ' + error.code + ' ' + error.message;
}
</script>`;
