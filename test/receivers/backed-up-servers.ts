import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { debianProgram, RunningProgram } from './debian-program.ts';

const POSTGRES = '/usr/lib/postgresql/15/bin';

/** How a program ended. */
interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs a program as another user of this machine, who may write to `home` only. */
async function runAs(
  user: string,
  home: string,
  [program = '', ...options]: readonly string[],
): Promise<Ended> {
  const as = ['--reuid', user, '--regid', groupOf(user), '--clear-groups'];
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, TZ: 'UTC', LC_ALL: 'C.UTF-8' };
  try {
    const ended = await promisify(execFile)('setpriv', [...as, program, ...options], {
      cwd: home,
      env,
      encoding: 'utf8',
    });
    return { status: 0, ...ended };
  } catch (error) {
    const {
      code = 1,
      stdout = '',
      stderr = '',
    } = error as { code?: number; stdout?: string; stderr?: string };
    return { status: Number(code), stdout, stderr: `${stderr}\n${String(error)}` };
  }
}

const groupOf = (user: string) => execFileSync('id', ['--group', user], { encoding: 'utf8' }).trim();

function folderOf(user: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-backups-'));
  execFileSync('chown', [user, folder]);
  chmodSync(folder, 0o750);
  return folder;
}

function required({ status, stdout, stderr }: Ended): string {
  if (status !== 0) throw new Error(`It ended with ${status}: ${stdout}${stderr}`);
  return stdout;
}

/** Debian's PostgreSQL 15 with page checksums, whose WAL goes to pgBackRest and, by a slot, to Barman. */
export class BackedUpPostgres {
  readonly #folder = folderOf('postgres');
  readonly #port = 20_000 + (process.pid % 10_000);

  static async start(): Promise<BackedUpPostgres> {
    for (const name of ['pgbackrest', 'barman']) debianProgram(name, name);
    const server = new BackedUpPostgres();
    await server.#create();
    return server;
  }

  async #create(): Promise<void> {
    const folder = this.#folder;
    const at = `host=${folder} port=${this.#port} user=postgres dbname=postgres`;
    for (const name of ['repo', 'log', 'lock', 'spool', 'barman', 'barman.d'])
      required(await this.#run('mkdir', join(folder, name)));
    writeFileSync(
      join(folder, 'pgbackrest.conf'),
      `[global]
repo1-path=${folder}/repo
log-path=${folder}/log
lock-path=${folder}/lock
spool-path=${folder}/spool
start-fast=y
compress-type=none
repo1-retention-full=2
[main]
pg1-path=${folder}/data
pg1-port=${this.#port}
pg1-socket-path=${folder}
`,
    );
    writeFileSync(
      join(folder, 'barman.conf'),
      `[barman]
barman_user = postgres
barman_home = ${folder}/barman
barman_lock_directory = ${folder}/barman
configuration_files_directory = ${folder}/barman.d
log_file = ${folder}/barman.log
[main]
description = test
conninfo = ${at}
streaming_conninfo = ${at}
backup_method = postgres
streaming_archiver = on
slot_name = barman
create_slot = auto
path_prefix = ${POSTGRES}
`,
    );
    required(
      await this.#run(`${POSTGRES}/initdb`, '-k', '-A', 'trust', '-U', 'postgres', '-D', `${folder}/data`),
    );
    const archive = `pgbackrest --config=${folder}/pgbackrest.conf --stanza=main archive-push %p`;
    const settings = [
      ...[`port=${this.#port}`, 'listen_addresses=', `unix_socket_directories=${folder}`, 'fsync=off'],
      ...['archive_mode=on', `archive_command=${archive}`],
    ];
    const options = settings.map((setting) => `-c '${setting}'`).join(' ');
    required(
      await this.#run(
        `${POSTGRES}/pg_ctl`,
        '-w',
        '-D',
        `${folder}/data`,
        '-l',
        `${folder}/pg.log`,
        '-o',
        options,
        'start',
      ),
    );
  }

  #run(...program: string[]): Promise<Ended> {
    return runAs('postgres', this.#folder, program);
  }

  pgBackRest(...words: string[]): Promise<Ended> {
    return this.#run('pgbackrest', `--config=${this.#folder}/pgbackrest.conf`, '--stanza=main', ...words);
  }

  barman(...words: string[]): Promise<Ended> {
    return this.#run('barman', '-c', `${this.#folder}/barman.conf`, ...words);
  }

  /** The URL of the server, as its superuser. */
  get url(): string {
    return `postgres://postgres@${encodeURIComponent(this.#folder)}:${this.#port}/postgres`;
  }

  async query(sql: string): Promise<string> {
    const at = ['-h', this.#folder, '-p', String(this.#port), '-U', 'postgres', '-Atqc', sql];
    return required(await this.#run(`${POSTGRES}/psql`, ...at)).trim();
  }

  /** Writes zeros into the middle of a table's first page on the disk, or makes its file unreadable. */
  async damage(table: string, how: 'page' | 'file'): Promise<void> {
    const file = join(
      this.#folder,
      'data',
      await this.query(`checkpoint; select pg_relation_filepath('${table}')`),
    );
    if (how === 'file') chmodSync(file, 0);
    else
      execFileSync('dd', ['if=/dev/urandom', `of=${file}`, 'bs=1', 'seek=4000', 'count=64', 'conv=notrunc']);
  }

  async stop(): Promise<void> {
    for (const name of ['receive-wal --stop main']) await this.barman(...name.split(' '));
    await this.#run(`${POSTGRES}/pg_ctl`, '-m', 'immediate', '-D', `${this.#folder}/data`, 'stop');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Debian's MariaDB, with mariabackup beside it. */
export class BackedUpMariaDb {
  readonly #folder = folderOf('nobody');
  #server: RunningProgram | null = null;

  static async start(): Promise<BackedUpMariaDb> {
    debianProgram('mariadb-backup', 'mariadb-backup');
    const server = new BackedUpMariaDb();
    await server.#create();
    return server;
  }

  async #create(): Promise<void> {
    const folder = this.#folder;
    const login = ['--auth-root-authentication-method=socket', '--auth-root-socket-user=nobody'];
    required(
      await this.#run(
        'mariadb-install-db',
        '--no-defaults',
        `--datadir=${folder}/data`,
        '--skip-test-db',
        ...login,
      ),
    );
    const daemon = debianProgram('mariadbd', 'mariadb-server');
    const options = [
      '--no-defaults',
      `--datadir=${folder}/data`,
      `--socket=${folder}/socket`,
      '--skip-networking',
    ];
    this.#server = new RunningProgram('setpriv', [
      ...['--reuid', 'nobody', '--regid', groupOf('nobody'), '--clear-groups', daemon],
      ...options,
      '--innodb-buffer-pool-size=32M',
    ]);
    await this.#server.ready(async () => (await this.#client('select 1')).status === 0, 60_000);
  }

  #run(...program: string[]): Promise<Ended> {
    return runAs('nobody', this.#folder, program);
  }

  #client(sql: string): Promise<Ended> {
    const at = ['--no-defaults', `--socket=${this.#folder}/socket`, '--user=nobody', '--batch'];
    return this.#run('mariadb', ...at, '--execute', sql);
  }

  async query(sql: string): Promise<string> {
    return required(await this.#client(sql));
  }

  backup(name: string): Promise<Ended> {
    mkdirSync(join(this.#folder, 'backups'), { recursive: true, mode: 0o777 });
    chmodSync(join(this.#folder, 'backups'), 0o777);
    const at = [
      `--socket=${this.#folder}/socket`,
      '--user=nobody',
      `--target-dir=${this.#folder}/backups/${name}`,
    ];
    return this.#run('mariadb-backup', '--no-defaults', '--backup', `--history=${name}`, ...at);
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
