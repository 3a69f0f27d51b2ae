import * as yaml from 'yaml';
import { certificatesIn } from '../../connections/connection-settings.ts';
import { agreedTls, requireAuthority, tlsOf } from '../../connections/connection-tls.ts';
import { requirePrivateKey } from '../../connections/connection-tunnel.ts';
import { parseConnectionUrl } from '../../connections/connection-url.ts';
import type { CollectorTarget, CollectorTargets } from '../../monitor/collector/collector-target.ts';
import { readYaml, yamlValue } from '../../platform/read-yaml.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { TLS_MODES } from '../../vocabulary/tls-modes.ts';
import { schemaProblems } from '../apply/schema-problems.ts';
import { type OwnPlaces, readPublicFile, readSecretFile } from '../guarded-file.ts';
import { sshLoginOf } from '../ssh-login.ts';
import { UsageError } from '../usage-error.ts';

const text = (description: string) => Type.String({ minLength: 1, maxLength: 4_000, description });

const Connection = Type.Object(
  {
    url: text('The URL of the database, such as postgres://watcher@db.internal:5432/shop.'),
    password: Type.Optional(text('The password, if it is not in the URL.')),
    password_file: Type.Optional(
      text('A file that contains only the password; it is read for each batch of runs.'),
    ),
    token_command: Type.Optional(
      Type.Array(text('The program or an argument.'), {
        minItems: 1,
        description: 'A program and its arguments, which print a token to log in with.',
      }),
    ),
    tls: Type.Optional({
      ...stringEnum(...TLS_MODES),
      description: `One of ${TLS_MODES.join(', ')} (default: verify-full).`,
    }),
    ca_file: Type.Optional(text("A file of certificates to trust besides the system's.")),
    expose_password: Type.Optional(
      Type.Boolean({
        description: 'Whether the password may be sent in clear text or as MD5 (default: false).',
      }),
    ),
    query_texts: Type.Optional(
      Type.Boolean({
        description:
          'Whether texts of queries may be sent to the service, if it asks for them too (default: false).',
      }),
    ),
    own_checks: Type.Optional(
      Type.Boolean({
        description:
          'Whether own checks run here: SELECT statements that members of the service write (default: false).',
      }),
    ),
    ssh: Type.Optional(text('An SSH server to connect through, as user@host or user@host:22.')),
    ssh_key_file: Type.Optional(text('The private key for the SSH server.')),
    ssh_host_key: Type.Optional(
      text("SHA-256 of the SSH server's key, in base64, as ssh-keygen -l shows it."),
    ),
  },
  { additionalProperties: false, description: 'A connection: at least url.' },
);

/** Of the file: 500 connections take 100 KB. */
const LARGEST = 1024 * 1024;

const File = Type.Object(
  {
    connections: Type.Record(Type.String({ pattern: '^.{1,200}$' }), Connection, {
      description: 'The connections, each under its name in the service.',
    }),
  },
  { additionalProperties: false, description: 'The file of a collector: connections.' },
);

/** What the reader itself says of the text, which shows nothing of it. */
function problemOf(read: ReturnType<typeof readYaml>): string {
  return 'problem' in read && read.problem.code.startsWith('TOO_')
    ? `: ${read.problem.message.replace(/^T/, 't')}`
    : '';
}

type WrittenConnection = Static<typeof Connection>;

/**
 * Reads the file of a collector, and the files that it names. Throws a {@link UsageError} that shows no secret: if another user can
 * read it, if it is not of this form, or if a connection is impossible.
 */
export function readCollectorFile(path: string, own: OwnPlaces): CollectorTargets {
  const text = readSecretFile(path, own, undefined, LARGEST);
  if (text !== parsed?.text) parsed = { text, file: parse(path, text) };
  const { connections } = parsed.file;
  return new Map(
    Object.entries(connections).map(([name, connection]) => {
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
let parsed: { text: string; file: Static<typeof File> } | null = null;

function parse(path: string, text: string): Static<typeof File> {
  const read = readYaml(text, yaml);
  const resolved = 'problem' in read ? null : yamlValue(read.document);
  // The parser's message shows a part of the file.
  if (!resolved) throw new UsageError(`The file ${path} is not YAML or JSON${problemOf(read)}.`);
  const { value: written } = resolved;
  const [problem] = schemaProblems(File, written);
  if (problem)
    throw new UsageError(`The file ${path}: ${[...problem.path, ''].join('.')} ${problem.sentence}`);
  return written as Static<typeof File>;
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
