import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PATIENCE_MS } from '../support/patience.ts';
import { debianProgram, RunningProgram } from './debian-program.ts';

/** A message as Python's e-mail parser reads it. */
export interface ReceivedMail {
  /** Decoded, each by its name in lower case. */
  headers: Record<string, string>;
  /** How many headers have the name `name`. */
  counts: Record<string, number>;
  text: string;
  html: string;
  /** Of the parts, in their order. */
  types: string[];
  raw: string;
}

// A parser of our own would share the mistakes of the code that wrote the message.
const PARSE = `
import email, email.policy, json, sys
m = email.message_from_binary_file(sys.stdin.buffer, policy=email.policy.default)
names = [k.lower() for k in m.keys()]
print(json.dumps({
  'headers': {k.lower(): str(v).strip() for k, v in m.items()},
  'counts': {k: names.count(k) for k in names},
  'text': m.get_body(('plain',)).get_content(),
  'html': m.get_body(('html',)).get_content(),
  'types': [p.get_content_type() for p in m.walk()],
}))`;

/**
 * OpenSMTPD with a queue of its own, which delivers every message to a maildir of the recipient. Without TLS: that of Debian 12
 * fails each handshake with OpenSSL 3 (https://github.com/OpenSMTPD/OpenSMTPD/issues/1171).
 */
export class OpenSmtpd {
  readonly url: string;
  readonly #folder: string;
  readonly #program: RunningProgram;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.url = `smtp://127.0.0.1:${port}?tls=none`;
    const config = join(folder, 'smtpd.conf');
    writeFileSync(
      config,
      `listen on 127.0.0.1 port ${port} hostname localhost
action "keep" maildir "${folder}/mail/%{rcpt.user}" virtual { "@" = nobody }
match from any for domain "example.com" action "keep"
`,
    );
    // Another one that runs on this machine keeps its queue and its socket. The package makes no queue: its service does, once started.
    const start = `mount -t tmpfs none /var/spool && mkdir -m 711 /var/spool/smtpd && mount -t tmpfs none /run && exec "$0" -d -f "$1"`;
    const smtpd = debianProgram('smtpd', 'opensmtpd');
    this.#program = new RunningProgram('unshare', ['--mount', 'sh', '-c', start, smtpd, config]);
  }

  static async start(): Promise<OpenSmtpd> {
    const folder = mkdtempSync(join(tmpdir(), 'dbvitals-opensmtpd-'));
    // OpenSMTPD delivers to no root.
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'mail'));
    execFileSync('chown', ['nobody', join(folder, 'mail')]);
    const port = await freePort();
    const server = new OpenSmtpd(folder, port);
    await server.#program.ready(() => accepts(port));
    return server;
  }

  /** The messages of a mailbox once it has `count`, the oldest first. */
  async mailbox(user: string, count: number): Promise<ReceivedMail[]> {
    const folder = join(this.#folder, 'mail', user, 'new');
    const files = () => {
      try {
        return readdirSync(folder).toSorted();
      } catch {
        return [];
      }
    };
    const end = Date.now() + PATIENCE_MS;
    while (files().length < count) {
      if (Date.now() > end)
        throw new Error(`${user} has ${files().length} messages:\n${this.#program.printed}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return files().map((file) => parse(readFileSync(join(folder, file))));
  }

  async stop(): Promise<void> {
    await this.#program.stop();
    rmSync(this.#folder, { recursive: true });
  }
}

function parse(raw: Buffer): ReceivedMail {
  const read = execFileSync('python3', ['-c', PARSE], { input: raw, encoding: 'utf8' });
  return { ...JSON.parse(read), raw: raw.toString('utf8') };
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

/** Whether something accepts connections on the port. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
