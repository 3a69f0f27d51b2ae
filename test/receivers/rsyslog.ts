import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianProgram, RunningProgram } from './debian-program.ts';
import { accepts, freePort } from './opensmtpd.ts';

const CERTIFICATES = join(import.meta.dirname, '../certificates');

/** rsyslog that takes syslog over TLS as `localhost`, and writes each message with its parts as a line of JSON. */
export class Rsyslog {
  readonly port: number;
  readonly #folder: string;
  readonly #program: RunningProgram;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
    const config = join(folder, 'rsyslog.conf');
    const certificate = (name: string) => join(CERTIFICATES, name);
    // A message of syslog has 8 kB at most unless rsyslog is told otherwise, as docs/notifications/log-streams.md asks.
    writeFileSync(
      config,
      `global(workDirectory="${folder}" maxMessageSize="64k" defaultNetstreamDriver="ossl"
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
    );
    const options = ['-n', '-f', config, '-i', join(folder, 'pid')];
    this.#program = new RunningProgram(debianProgram('rsyslogd', 'rsyslog rsyslog-openssl'), options);
  }

  static async start(): Promise<Rsyslog> {
    const port = await freePort();
    const server = new Rsyslog(mkdtempSync(join(tmpdir(), 'dbvitals-rsyslog-')), port);
    await server.#program.ready(() => accepts(port));
    return server;
  }

  /** The messages, once there are `count`; waits at most 15 s. */
  async messages(count: number): Promise<Record<string, string>[]> {
    const end = Date.now() + 15_000;
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
