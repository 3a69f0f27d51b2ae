import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { commandJson } from './command.ts';

// A collector of the suite's own: it writes RFC 9421 independently of the program, so that it can also write it wrong.

export interface Reply {
  status: number;
  body: { jobs?: { run: string; connection: string }[]; error?: { code: string; message: string } } & Record<
    string,
    unknown
  >;
}

/** What a test sends otherwise than a collector does. */
interface Deviation {
  key?: KeyObject;
  keyId?: string;
  nonce?: number;
  /** The path that is signed. */
  path?: string;
  /** The body that is sent in place of the signed one. */
  body?: Buffer;
  headers?: Record<string, string>;
}

export interface Signed {
  headers: Record<string, string>;
  body: Buffer;
}

export interface CollectorClient {
  account: number;
  collector: number;
  token: string;
  sign(action: string, content: unknown, deviation?: Deviation): Signed;
  /** Signs a body that is sent as it is. */
  signBytes(action: string, body: Buffer, deviation?: Deviation): Signed;
  send(action: string, content: unknown, deviation?: Deviation): Promise<Reply>;
  work(given?: object): Promise<Reply>;
}

export const VERSION = '0.1.0';

export async function post(action: string, { headers, body }: Signed, origin: string): Promise<Reply> {
  const response = await fetch(`${origin}/collector/${action}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: new Uint8Array(body),
  });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) };
}

export function newPair(): { key: KeyObject; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    key: privateKey,
    publicKey: Buffer.from(String(publicKey.export({ format: 'jwk' })['x']), 'base64url').toString('base64'),
  };
}

export function enrol(content: object, origin: string): Promise<Reply> {
  return post('enrol', { headers: {}, body: Buffer.from(JSON.stringify(content)) }, origin);
}

let last = 0;

/** A collector of the account that is enrolled by a token of the command line. */
export async function enrolledClient(
  account: number,
  name: string,
  origin: string,
): Promise<CollectorClient> {
  const { token } = await commandJson<{ token: string }>([
    'collector',
    'enrol',
    '--account',
    `${account}`,
    '--name',
    name,
  ]);
  const { key, publicKey } = newPair();
  const { status, body } = await enrol({ token, name, public_key: publicKey, version: VERSION }, origin);
  if (status !== 200) throw new Error(JSON.stringify(body));
  const collector = Number(body['collector']);
  const client: CollectorClient = {
    account,
    collector,
    token,
    sign: (action, content, deviation) =>
      client.signBytes(action, gzipSync(JSON.stringify(content)), deviation),
    signBytes(action, body, deviation = {}) {
      last = Math.max(last + 1, Date.now() * 1_000);
      const { nonce = last, keyId = `${account}/${collector}`, path = `/collector/${action}` } = deviation;
      const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
      const created = Math.floor(nonce / 1e6);
      const parameters = `("@method" "@path" "content-digest");created=${created};keyid="${keyId}";alg="ed25519";nonce="${nonce}"`;
      const base = `"@method": POST\n"@path": ${path}\n"content-digest": ${digest}\n"@signature-params": ${parameters}`;
      const signature = sign(null, Buffer.from(base), deviation.key ?? key).toString('base64');
      return {
        body: deviation.body ?? body,
        headers: {
          'content-encoding': 'gzip',
          'content-digest': digest,
          'signature-input': `collector=${parameters}`,
          signature: `collector=:${signature}:`,
          ...deviation.headers,
        },
      };
    },
    send: (action, content, deviation) => post(action, client.sign(action, content, deviation), origin),
    work: (given = {}) => client.send('work', { version: VERSION, free: 5, running: [], ...given }),
  };
  return client;
}

/** The result of a run in which everything is well. */
export function quietResult(run: string) {
  const ok = {
    status: 'ok',
    severity: 'critical',
    metric_line: 'The database answers.',
    remediation: '',
    database: '',
    object: null,
  };
  return {
    run,
    measured: {
      outcomes: [
        { check: { id: 'CONN_UNREACHABLE' }, findings: [ok], measured: true, unmeasured: [], near: [] },
      ] as object[],
      samples: [] as object[],
      measures: [] as object[],
      readings: [] as object[],
      queries: null,
      cost: { milliseconds: 1, statements: 2, bytes: 3 },
      server: { version: 180_000, tls: null, provider: null },
    },
  };
}
