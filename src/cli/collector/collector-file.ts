import { spawnSync } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { extname, join } from 'node:path';
import { certificatesIn } from '../../connections/connection-settings.ts';
import { agreedTls, requireAuthority, tlsOf } from '../../connections/connection-tls.ts';
import { requirePrivateKey } from '../../connections/connection-tunnel.ts';
import { parseConnectionUrl } from '../../connections/connection-url.ts';
import type { CollectorTarget, CollectorTargets } from '../../monitor/collector/collector-target.ts';
import { type OwnPlaces, readPublicFile, readSecretFile } from '../guarded-file.ts';
import { sshLoginOf } from '../ssh-login.ts';
import { UsageError } from '../usage-error.ts';
import type { ParsedFile, WrittenFile } from './parse-collector-file.ts';

/** Of the file: 500 connections take 100 KB. */
const LARGEST = 1024 * 1024;

type WrittenConnection = WrittenFile['connections'][string];

/**
 * Reads the file of a collector, and the files that it names. Throws a {@link UsageError} that shows no secret: if another user can
 * read it, if it is not of this form, or if a connection is impossible.
 */
export function readCollectorFile(path: string, own: OwnPlaces): CollectorTargets {
  const text = readSecretFile(path, own, undefined, LARGEST);
  if (text !== last?.text) last = { text, parsed: parse(text) };
  const { parsed } = last;
  if ('problem' in parsed) throw new UsageError(`The file ${path}${parsed.problem}`);
  return new Map(
    Object.entries(parsed.file.connections).map(([name, connection]) => {
      try {
        return [name, toTarget(connection, own)] as const;
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'it is not possible';
        throw new UsageError(`Connection "${name}" in the file ${path}: ${reason}`);
      }
    }),
  );
}

/** The last text, which is judged again only if it changed: the file is read for each batch of health checks. */
let last: { text: string; parsed: ParsedFile } | null = null;

/** For the reader's process, which a busy machine prolongs. */
const PARSE_MS = 60_000;

/** Parses the text in a process of its own: YAML and the judge of the form take 12 MB, which a collector would have for months. */
function parse(text: string): ParsedFile {
  const program = join(import.meta.dirname, `parse-collector-file${extname(import.meta.filename)}`);
  const cache = getCompileCacheDir();
  const { status, stdout, error } = spawnSync(process.execPath, ['--no-warnings', program], {
    input: text,
    encoding: 'utf8',
    timeout: PARSE_MS,
    maxBuffer: 16 * LARGEST,
    env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  if (status !== 0) throw new UsageError(`The file was not read: ${error?.message ?? 'its reader ended'}.`);
  return JSON.parse(stdout);
}

function toTarget(written: WrittenConnection, own: OwnPlaces): CollectorTarget {
  const { connection_type, password: inUrl, tls: ofUrl, ...address } = parseConnectionUrl(written.url);
  const passwords = [inUrl, written.password, written.password_file, written.token_command];
  if (passwords.filter((one) => one !== undefined && one !== null).length > 1)
    throw new UsageError('Give one of a password in the URL, password, password_file and token_command.');
  const tls = tlsOf(connection_type, agreedTls(written.tls, ofUrl));
  const caCertificate =
    written.ca_file === undefined ? null : certificatesIn(readPublicFile(written.ca_file, own));
  requireAuthority(tls, caCertificate);
  const tunnel = tunnelOf(written, own);
  if (tunnel && connection_type === 'unix_socket')
    throw new UsageError('An SSH tunnel needs a host, not a socket.');
  const password =
    written.password_file === undefined
      ? (inUrl ?? written.password ?? null)
      : (readSecretFile(written.password_file, own).split(/\r?\n/, 1)[0] ?? '');
  return {
    target: {
      ...address,
      connectionType: tunnel ? 'ssh_tunnel' : connection_type,
      password,
      tls,
      passwordExposable: written.expose_password ?? false,
      caCertificate,
      tunnel,
    },
    tokenCommand: written.token_command ? { command: written.token_command, hosts: [address.host] } : null,
    queryTexts: written.query_texts ?? false,
    ownChecks: written.own_checks ?? false,
  };
}

function tunnelOf({ ssh, ssh_key_file, ssh_host_key }: WrittenConnection, own: OwnPlaces) {
  if (ssh === undefined) return null;
  // Nobody else could say which key is right: the service never sees the server.
  if (ssh_host_key === undefined)
    throw new UsageError('Give ssh_host_key: "ssh-keyscan HOST | ssh-keygen -lf -" shows it after SHA256:.');
  const privateKey = ssh_key_file === undefined ? null : requirePrivateKey(readSecretFile(ssh_key_file, own));
  const agentSocket = process.env['SSH_AUTH_SOCK'] ?? null;
  const hostKey = `${ssh_host_key.replace(/^SHA256:/, '').replace(/=+$/, '')}=`;
  return { ...sshLoginOf(ssh), privateKey, agentSocket, hostKey };
}
