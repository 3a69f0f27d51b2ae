import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

/** TLS of connections to the store: options, or false = none. Undefined if the URL does not say; then there is none either. */
export type StoreTls = ConnectionOptions | false | undefined;

const USE = 'disable, require, verify-ca or verify-full';
// The driver's own name for libpq's `require`.
const UNVERIFIED = 'no-verify';
const OURS = ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'];

/**
 * Takes the parameters of TLS out of a URL's query, such as `?sslmode=verify-full`, and gives them the meaning that they have for
 * libpq. The driver takes `require` for `verify-full`, and warns of that with every command. `setting` is the URL's name in messages.
 * Throws a sentence if a mode or a file can't be used.
 */
export function takeTls(setting: string, query: string): { tls: StoreTls; rest: string } {
  const parameters = new URLSearchParams(query);
  if (!OURS.some((name) => parameters.has(name))) return { tls: undefined, rest: query };
  const twice = OURS.find((name) => parameters.getAll(name).length > 1);
  if (twice !== undefined) throw new Error(`${setting} contains ${twice} twice: remove one of them.`);
  const [mode, root, cert, key] = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'].map((name) =>
    parameters.get(name),
  );
  const tls = tlsOf(setting, mode ?? modeOf(setting, parameters.get('ssl')), {
    root: root ?? null,
    cert: cert ?? null,
    key: key ?? null,
  });
  for (const name of OURS) parameters.delete(name);
  const rest = parameters.size === 0 ? '' : `?${parameters}`;
  return { tls, rest };
}

/** The mode of the driver's own parameter `ssl`. */
function modeOf(setting: string, ssl: string | null): string | null {
  if (ssl === null) return null;
  if (ssl === 'true' || ssl === '1') return 'verify-full';
  if (ssl === 'false' || ssl === '0') return 'disable';
  if (ssl === UNVERIFIED) return UNVERIFIED;
  throw new Error(`${setting} contains ssl: remove it, and use sslmode: ${USE}.`);
}

interface Files {
  root: string | null;
  cert: string | null;
  key: string | null;
}

function tlsOf(setting: string, mode: string | null, { root, cert, key }: Files): StoreTls {
  const ca = root === null || root === 'system' ? {} : { ca: readCertificate(setting, 'sslrootcert', root) };
  const own = readClientCertificate(setting, cert, key);
  switch (mode) {
    case null:
      if (root === null && cert === null && key === null) return undefined;
      return { ...ca, ...own };
    case 'disable':
      return false;
    case 'verify-full':
      return { ...ca, ...own };
    case 'verify-ca':
      return { ...ca, ...own, checkServerIdentity: () => undefined };
    case UNVERIFIED:
      return { ...ca, ...own, rejectUnauthorized: false };
    case 'require':
      // With an authority, libpq verifies the chain.
      return root === null
        ? { ...own, rejectUnauthorized: false }
        : { ...ca, ...own, checkServerIdentity: () => undefined };
    case 'allow':
    case 'prefer':
      throw new Error(`${setting} contains sslmode=${mode}, which may connect without TLS: use ${USE}.`);
    default:
      throw new Error(`${setting} contains an sslmode that does not exist: use ${USE}.`);
  }
}

/** The certificate by which dbvitals signs in, and its key. Throws a sentence if they do not belong together. */
function readClientCertificate(setting: string, cert: string | null, key: string | null) {
  if (cert === null && key === null) return {};
  if (cert === null || key === null)
    throw new Error(`${setting} contains only one of sslcert and sslkey: a client certificate needs both.`);
  const files = { cert: readCertificate(setting, 'sslcert', cert), key: readFile(setting, 'sslkey', key) };
  const isPair = attempt(() => new X509Certificate(files.cert).checkPrivateKey(createPrivateKey(files.key)));
  if (isPair) return files;
  throw new Error(
    `${setting}: the file of sslkey ${isPair === null ? 'contains no private key without a passphrase' : 'has the key of another certificate than that of sslcert'}: name the key of sslcert.`,
  );
}

function readCertificate(setting: string, name: string, path: string): string {
  const text = readFile(setting, name, path);
  if (attempt(() => new X509Certificate(text))) return text;
  throw new Error(`${setting}: the file of ${name} contains no certificate: name a certificate in PEM.`);
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

function readFile(setting: string, name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new Error(
      `${setting}: the file of ${name} can't be read${code}: name a PEM file that this user can read.`,
      { cause: error },
    );
  }
}

/** How safe the link to a store is, for `doctor`; null = it is on this machine. */
export function judgeLink(host: string, tls: StoreTls): 'verified' | 'unverified' | 'plaintext' | null {
  if (host.startsWith('/') || /^(?:localhost|127\.|::1$|\[::1\]$)/.test(host)) return null;
  if (!tls) return 'plaintext';
  return tls.rejectUnauthorized === false ? 'unverified' : 'verified';
}
