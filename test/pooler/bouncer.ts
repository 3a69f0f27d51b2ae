import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { serverUser } from '../../src/store/server-user.ts';
import { rootProgram } from '../roots/root-program.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** The password of the login `dbvitals`, as in docs/scaling.md. */
export const PASSWORD = 'change-me';

/** `keeper` may change PgBouncer, and `stranger` may not even log in to its console. */
const LOGINS = ['dbvitals', 'keeper', 'stranger'];

/** A running PgBouncer with the configuration of docs/scaling.md. */
export interface Bouncer {
  port: number;
  /** Changes its configuration while it runs. */
  reload(edit: (configuration: string) => string): Promise<void>;
  stop(): Promise<void>;
}

/** PgBouncer 1.18 or what this machine has, and Debian trixie's 1.24, which keeps named statements for its clients. */
export const PROGRAMS = { installed: () => installed(), trixie: () => rootProgram('pgbouncer') };

/**
 * Starts PgBouncer for the server whose socket is in `socketFolder`, with files in the new folder `folder`. Paths in the
 * documented configuration are replaced; `edit` makes further changes. Without `port` it gets a free one; without `program`,
 * it is that of `TEST_PGBOUNCER`.
 */
export async function startBouncer(
  socketFolder: string,
  folder: string,
  edit = (configuration: string) => configuration,
  { port: given, program = chosen() }: { port?: number; program?: keyof typeof PROGRAMS } = {},
): Promise<Bouncer> {
  const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
  const [, documented = ''] = /```ini\n(\[databases\]\n[^`]*)```/.exec(page) ?? [];
  const port = given ?? (await freePort());
  const users = join(folder, 'userlist.txt');
  const places: [RegExp, string][] = [
    [/host=\S+ port=\d+/g, `host=${socketFolder} port=5432`],
    [
      /^listen_addr = .*$/m,
      'listen_addr = 127.0.0.1\nunix_socket_dir =\nstats_users = dbvitals\nadmin_users = keeper',
    ],
    [/^listen_port = .*$/m, `listen_port = ${port}`],
    [/^auth_file = .*$/m, `auth_file = ${users}`],
  ];
  let configuration = documented;
  for (const [found, place] of places) {
    if (!found.test(configuration)) throw new Error(`docs/scaling.md has no ${found} in its pgbouncer.ini.`);
    configuration = configuration.replace(found, place);
  }
  const file = join(folder, 'pgbouncer.ini');
  mkdirSync(folder, { mode: 0o700 });
  configuration = edit(configuration);
  writeFileSync(file, configuration, { mode: 0o600 });
  writeFileSync(users, LOGINS.map((name) => `"${name}" "${PASSWORD}"\n`).join(''), { mode: 0o600 });
  // Like PostgreSQL, it refuses to run as root.
  const user = serverUser();
  if (user) for (const path of [folder, file, users]) chownSync(path, user.uid, user.gid);
  const bouncer = spawn(PROGRAMS[program](), [file], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  });
  let said = '';
  for (const stream of [bouncer.stdout, bouncer.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const ended = once(bouncer, 'close');
  for (let tries = 0; !said.includes('process up'); tries += 1) {
    if (tries > PATIENCE_MS / 50 || bouncer.exitCode !== null)
      throw new Error(`PgBouncer did not start: ${said}`);
    await wait(50);
  }
  return {
    port,
    async reload(change) {
      const before = said.length;
      writeFileSync(file, change(configuration));
      bouncer.kill('SIGHUP');
      for (let tries = 0; !said.slice(before).includes('got SIGHUP'); tries += 1) {
        if (tries > PATIENCE_MS / 50) throw new Error(`PgBouncer did not reload: ${said}`);
        await wait(50);
      }
    },
    async stop() {
      bouncer.kill('SIGQUIT'); // 1.24 waits for its clients after SIGTERM
      await ended;
    },
  };
}

function chosen(): keyof typeof PROGRAMS {
  return process.env['TEST_PGBOUNCER'] === 'trixie' ? 'trixie' : 'installed';
}

function installed(): string {
  const { stdout } = spawnSync('sh', ['-c', 'PATH="$PATH:/usr/sbin"; command -v pgbouncer'], {
    encoding: 'utf8',
  });
  if (stdout) return stdout.trim();
  throw new Error(
    'PgBouncer is not installed: run "apt-get install pgbouncer", then npm run test:pooler again.',
  );
}

/** A free port. */
async function freePort(): Promise<number> {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const address = holder.address();
  holder.close();
  return typeof address === 'object' && address ? address.port : 0;
}
