import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCluster, startServer, stopServer } from '../../src/store/server.ts';
import { SHIPPED_FLAGS } from '../support/shipped-flags.ts';
import { blocks } from './page.ts';

// The user `nobody` runs the program that run.ts installed, in the working folder and a separate network with a free port
// 8080.

const NOBODY = { uid: 65_534, gid: 65_534 };
const LONGEST_SECONDS = 120;
const ORIGIN = 'http://127.0.0.1:8080';

const { BARE = '', INSTALLED_SECONDS, ...env } = process.env;
const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
chownSync('.', NOBODY.uid, NOBODY.gid);

const services: ChildProcess[] = [];
process.once('exit', () => services.forEach((service) => void service.kill()));

const [serve = '', link = '', look = ''] = blocks('### Start', 3);

// Root installed it and another user runs it: the error says what to do, and that works.
const unlinked = run('dbvitals migrate', NOBODY);
assert.match(
  unlinked.stderr,
  /^error: PostgreSQL's libraries are not linked: run "cd \S+ && node scripts\/hydrate-symlinks.js" as [^\n]*\n$/,
);
assert.equal(unlinked.status, 1);
succeeds(link);

const began = performance.now();
const first = start(serve);
const [, key = ''] = await says(first, /API key\s+(dbv_live_\S+)/);
const get = (path: string, headers = {}) =>
  fetch(`${ORIGIN}${path}`, {
    headers: { authorization: `Bearer ${key}`, accept: 'text/html, */*', ...headers },
  });
assert.equal((await get('/api/v1/health/fleet')).status, 200);
const whole = Number(INSTALLED_SECONDS) + (performance.now() - began) / 1_000;
assert(whole < LONGEST_SECONDS, `${whole} s`);
console.log(`from the file to the first answered request: ${whole.toFixed(1)} s`);

// A service has a title instead of its command line, so the flags are seen in the program.
const [shebang = ''] = readFileSync(succeeds('command -v dbvitals').trim(), 'utf8').split('\n');
assert(shebang.endsWith(` node ${SHIPPED_FLAGS.join(' ')}`), shebang);
assert.match(readFileSync(`/proc/${first.pid}/cmdline`, 'utf8'), /^dbvitals serve/);

const page = await (await get('/fleet')).text();
const assets = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);
assert(assets.some((path) => path.endsWith('.js')) && assets.some((path) => path.endsWith('.css')), page);
for (const path of [
  ...assets,
  '/docs',
  '/docs/page.js',
  '/docs/swagger-ui-bundle.js',
  '/docs.md',
  '/llms.txt',
  '/openapi.json',
]) {
  assert.equal((await get(path)).status, 200, path);
}

const shown = succeeds(look, NOBODY);
assert(shown.startsWith(`${manifest.version}+`) && shown.includes('score'), shown);
assert(succeeds('dbvitals check explain PG_DEAD_TUPLES', NOBODY).startsWith('# '));
// Uses the client, which is a separate package in the checkout.
const tailed = succeeds(`DBVITALS_API_KEY=${key} dbvitals activity tail --url ${ORIGIN} --json`, NOBODY);
assert(tailed.includes('"/api/v1/health/fleet"'), tailed);
const asked = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: asked });
const answered = succeeds(`echo '${hello}' | DBVITALS_API_KEY=${key} dbvitals mcp --url ${ORIGIN}`, NOBODY);
assert(answered.includes(`"version":"${manifest.version}"`), answered);
assert.equal(await end(first), 0);

await useOwnPostgres();

/** The package without PostgreSQL, with a server on the page's port. */
async function useOwnPostgres(): Promise<void> {
  const refused = run(`"${BARE}" migrate`, NOBODY);
  assert.match(refused.stderr, /^error: There is no embedded PostgreSQL for [^\n]* set DATABASE_URL\.\n$/);
  const above = mkdtempSync(join(tmpdir(), 'dbvitals-package-store-'));
  const folder = join(above, 'pg');
  try {
    await createCluster(folder, 'superuser', {});
    await startServer(folder, { listen_addresses: '127.0.0.1', port: '5432', unix_socket_directories: '' });
    const { default: pg } = await import('pg');
    const root = new pg.Client({
      host: '127.0.0.1',
      user: 'postgres',
      password: 'superuser',
      database: 'postgres',
    });
    await root.connect();
    const [prepare = ''] = blocks('### With a PostgreSQL of your own', 1, 'sql');
    for (const statement of prepare.split(';\n').filter(Boolean)) await root.query(statement);
    await root.end();
    const [secret = '', serveIt = ''] = blocks('### With a PostgreSQL of your own', 2);
    succeeds(secret, NOBODY);
    const service = start(serveIt.replace('dbvitals serve', `"${BARE}" serve`));
    await says(service, /ready on/);
    assert.equal((await fetch(`${ORIGIN}/readyz`)).status, 200);
    assert.equal(await end(service), 0);
  } finally {
    await stopServer(folder);
    rmSync(above, { recursive: true, force: true });
  }
}

function run(script: string, user = {}) {
  return spawnSync('sh', ['-ec', script], { env, ...user, encoding: 'utf8' });
}

/** Runs a command and returns its output. */
function succeeds(script: string, user = {}): string {
  const { status, stdout, stderr } = run(script, user);
  assert.equal(status, 0, `${script}: ${stderr}`);
  return stdout;
}

/** Starts a block that ends with a service, as `nobody`. Returns the service's process. */
function start(block: string): ChildProcess {
  const script = block.replace(/^(.* )?(\S+ serve)/m, 'exec $&');
  const service = spawn('sh', ['-ec', script], { env, ...NOBODY, stdio: ['ignore', 'pipe', 'inherit'] });
  services.push(service);
  return service;
}

async function says(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let said = '';
  for await (const text of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    said += text;
    const found = pattern.exec(said);
    if (found) return found;
  }
  throw new Error(`It ended before it said ${pattern}: ${said}`);
}

async function end(child: ChildProcess): Promise<number | null> {
  child.kill();
  const [code] = await once(child, 'exit');
  return code;
}
