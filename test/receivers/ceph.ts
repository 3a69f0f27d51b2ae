import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import aws4 from 'aws4';
import { debianProgram, RunningProgram } from './debian-program.ts';
import { accepts, freePort } from './opensmtpd.ts';

const PACKAGES = 'ceph-mon ceph-osd radosgw';

/** An access key that may write to Ceph. */
export const ACCESS_KEY = { accessKeyId: 'ACMEKEY', secretAccessKey: 'unspoken/secret+key' };

/** Ceph's Object Gateway with an object store in memory. It verifies signatures, and honours `If-None-Match`. */
export class Ceph {
  readonly url: string;
  readonly #folder: string;
  readonly #programs: RunningProgram[] = [];
  readonly #environment: NodeJS.ProcessEnv;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.url = `http://127.0.0.1:${port}`;
    this.#environment = { ...process.env, CEPH_CONF: join(folder, 'ceph.conf') };
  }

  static async start(): Promise<Ceph> {
    const port = await freePort();
    const ceph = new Ceph(mkdtempSync(join(tmpdir(), 'dbvitals-ceph-')), port);
    try {
      await ceph.#startStore(await freePort());
      const gateway = ['-n', 'client.admin', '--rgw_frontends', `beast endpoint=127.0.0.1:${port}`];
      await ceph.#startProgram('radosgw', gateway).ready(() => accepts(port), 60_000);
      const { accessKeyId, secretAccessKey } = ACCESS_KEY;
      const user = ['--uid', 'siem', '--display-name', 'siem'];
      const keys = ['--access-key', accessKeyId, '--secret-key', secretAccessKey];
      ceph.#run('radosgw-admin', ['user', 'create', ...user, ...keys]);
      return ceph;
    } catch (error) {
      const printed = ceph.printed;
      await ceph.stop();
      throw new Error(printed, { cause: error });
    }
  }

  /** A monitor, and an object store that it knows. */
  async #startStore(port: number): Promise<void> {
    const cluster = randomUUID();
    const osd = randomUUID();
    writeFileSync(join(this.#folder, 'ceph.conf'), settings(this.#folder, cluster, port));
    for (const name of ['mon', 'osd']) mkdirSync(join(this.#folder, name));
    const map = join(this.#folder, 'monmap');
    this.#run('monmaptool', ['--create', '--addv', 'a', `[v2:127.0.0.1:${port}]`, '--fsid', cluster, map]);
    const keyring = join(this.#folder, 'keyring');
    writeFileSync(keyring, '');
    for (const name of ['mon.', 'osd.0', 'client.admin']) {
      const rights = ['mon', 'osd'].flatMap((part) => ['--cap', part, 'allow *']);
      this.#run('ceph-authtool', [keyring, '--gen-key', '-n', name, ...rights]);
    }
    this.#run('ceph-mon', ['--mkfs', '-i', 'a', '--monmap', map, '--keyring', keyring]);
    await this.#startProgram('ceph-mon', ['-i', 'a']).ready(() => accepts(port));
    this.#run('ceph', ['osd', 'new', osd, '0']);
    this.#run('ceph-osd', ['-i', '0', '--mkfs', '--osd-uuid', osd]);
    this.#startProgram('ceph-osd', ['-i', '0']);
  }

  #startProgram(name: string, options: readonly string[]): RunningProgram {
    const program = new RunningProgram(debianProgram(name, PACKAGES), ['-f', ...options], this.#environment);
    this.#programs.push(program);
    return program;
  }

  #run(name: string, options: readonly string[]): void {
    const path = debianProgram(name, PACKAGES);
    execFileSync(path, options, { env: this.#environment, stdio: 'pipe', timeout: 60_000 });
  }

  /** Makes a bucket. */
  async bucket(name: string): Promise<void> {
    const made = await this.#ask('PUT', `/${name}`);
    if (made.status !== 200) throw new Error(`${made.status}: ${made.body}\n${this.printed}`);
  }

  /** The names of the objects of a bucket, in order. */
  async names(bucket: string): Promise<string[]> {
    const { body } = await this.#ask('GET', `/${bucket}?max-keys=1000`);
    return [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name = '']) => name);
  }

  /** An object with its headers. */
  async object(bucket: string, name: string) {
    return this.#ask('GET', `/${bucket}/${name}`);
  }

  /** What its programs printed. */
  get printed(): string {
    return this.#programs.map(({ printed }) => printed).join('\n');
  }

  async #ask(method: string, path: string) {
    const { host } = new URL(this.url);
    const { headers } = aws4.sign({ service: 's3', region: 'us-east-1', method, host, path }, ACCESS_KEY);
    const answer = await fetch(`${this.url}${path}`, { method, headers: headers as Record<string, string> });
    return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop('SIGKILL')));
    rmSync(this.#folder, { recursive: true });
  }
}

const settings = (folder: string, cluster: string, port: number) => `[global]
fsid = ${cluster}
mon_host = [v2:127.0.0.1:${port}]
public_network = 127.0.0.0/8
keyring = ${folder}/keyring
mon_allow_pool_size_one = true
mon_data_avail_crit = 0
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
osd_objectstore = memstore
memstore_device_bytes = 268435456
mon_data = ${folder}/mon
osd_data = ${folder}/osd
run_dir = ${folder}
admin_socket = ${folder}/$name.asok
log_file =
log_to_stderr = false
pid_file =
`;
