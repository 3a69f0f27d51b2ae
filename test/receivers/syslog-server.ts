import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PATIENCE_MS } from '../support/patience.ts';
import { debianProgram, RunningProgram } from './debian-program.ts';
import { accepts, freePort } from './opensmtpd.ts';

const CERTIFICATES = join(import.meta.dirname, '../certificates');
const certificate = (name: string) => join(CERTIFICATES, name);

/** A program that takes syslog over TLS as `localhost`, and writes each message with its parts as a line of JSON to `got`. */
interface SyslogProgram {
  /** The program, for a folder that it may use. */
  find(folder: string): string;
  configuration(folder: string, port: number): string;
  options(config: string, folder: string): string[];
  environment?(folder: string): NodeJS.ProcessEnv;
}

const rsyslog: SyslogProgram = {
  find: () => debianProgram('rsyslogd', 'rsyslog rsyslog-openssl'),
  // A message of syslog has 8 kB at most unless rsyslog is told otherwise, as docs/notifications/log-streams.md asks.
  configuration: (
    folder,
    port,
  ) => `global(workDirectory="${folder}" maxMessageSize="64k" defaultNetstreamDriver="ossl"
  defaultNetstreamDriverCAFile="${certificate('authority.pem')}"
  defaultNetstreamDriverCertFile="${certificate('server.pem')}" defaultNetstreamDriverKeyFile="${certificate('server.key')}")
module(load="imtcp" streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="anon")
template(name="parts" type="list" option.jsonf="on") {
  property(outname="priority" name="pri" format="jsonf")
  property(outname="time" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="messageId" name="msgid" format="jsonf")
  property(outname="data" name="structured-data" format="jsonf")
  property(outname="text" name="msg" format="jsonf")
}
input(type="imtcp" port="${port}" address="127.0.0.1" ruleset="keep")
ruleset(name="keep") { action(type="omfile" file="${folder}/got" template="parts") }
`,
  options: (config, folder) => ['-n', '-f', config, '-i', join(folder, 'pid')],
};

/** Where Debian's package has the library of syslog-ng, with the modules below it. */
const LIBRARY = 'usr/lib/syslog-ng';

// Debian's packages of rsyslog and syslog-ng exclude each other, so this one is unpacked.
const syslogNg: SyslogProgram = {
  find(folder) {
    const run = (program: string, args: string[]) => {
      try {
        execFileSync(program, args, { cwd: folder, stdio: 'pipe' });
      } catch (error) {
        throw new Error('syslog-ng-core could not be had: run "apt-get update" on Debian, then this again.', {
          cause: error,
        });
      }
    };
    run('apt-get', ['download', '-o', 'APT::Sandbox::User=root', 'syslog-ng-core']);
    const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.deb'));
    run('dpkg', ['-x', file, folder]);
    return join(folder, 'usr/sbin/syslog-ng');
  },
  environment: (folder) => ({ ...process.env, LD_LIBRARY_PATH: join(folder, LIBRARY) }),
  configuration: (folder, port) => `@version: 3.38
options { keep-hostname(yes); use-dns(no); frac-digits(3); log-msg-size(65536); flush-lines(1); };
source tls {
  syslog(ip("127.0.0.1") port(${port}) transport("tls")
    tls(key-file("${certificate('server.key')}") cert-file("${certificate('server.pem')}") peer-verify(optional-untrusted)));
};
destination got {
  file("${folder}/got" template("$(format-json priority=$PRI time=$S_ISODATE messageId=$MSGID data=$SDATA text=$MESSAGE)\\n"));
};
log { source(tls); destination(got); };
`,
  options: (config, folder) => [
    '--foreground',
    `--module-path=${join(folder, LIBRARY, '3.38')}`,
    `--cfgfile=${config}`,
    `--persist-file=${join(folder, 'persist')}`,
    `--pidfile=${join(folder, 'pid')}`,
    `--control=${join(folder, 'control')}`,
    '--no-caps',
  ],
};

export const SYSLOG_PROGRAMS = { rsyslog, 'syslog-ng': syslogNg };

/** A running one. */
export class SyslogServer {
  readonly port: number;
  readonly #folder: string;
  readonly #program: RunningProgram;

  private constructor(program: SyslogProgram, folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
    const config = join(folder, 'syslog.conf');
    writeFileSync(config, program.configuration(folder, port));
    const path = program.find(folder);
    this.#program = new RunningProgram(path, program.options(config, folder), program.environment?.(folder));
  }

  static async start(program: SyslogProgram): Promise<SyslogServer> {
    const port = await freePort();
    const server = new SyslogServer(program, mkdtempSync(join(tmpdir(), 'dbvitals-syslog-')), port);
    await server.#program.ready(() => accepts(port));
    return server;
  }

  /** The messages, once there are `count`. */
  async messages(count: number): Promise<Record<string, string>[]> {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const lines = this.#lines();
      if (lines.length >= count) return lines.map((line) => JSON.parse(line));
      if (Date.now() > end) throw new Error(`${lines.length} messages came:\n${this.#program.printed}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  #lines(): string[] {
    try {
      return readFileSync(join(this.#folder, 'got'), 'utf8').split('\n').filter(Boolean);
    } catch {
      return [];
    }
  }

  async stop(): Promise<void> {
    await this.#program.stop();
    rmSync(this.#folder, { recursive: true });
  }
}
