import { type Engine, traitsOf } from '../../../src/vocabulary/engines.ts';
import type { TlsMode } from '../../../src/vocabulary/tls-modes.ts';

/** An empty form with the defaults of `connection add`. */
export const emptyDraft = {
  name: '',
  engine: 'postgres' as Engine,
  /** A host name or IP address, several as `one:5432,two:5433`, or the path of a Unix socket. */
  host: '',
  port: '',
  database: '',
  username: '',
  password: '',
  tls: 'verify-full' as TlsMode,
  passwordExposable: false,
  /** PEM. */
  caCertificate: '',
  hasTunnel: false,
  sshUsername: '',
  sshHost: '',
  sshPort: '22',
  sshKey: '',
  /** Seconds; 0 = no pulse, and no backup is expected. */
  interval: '300',
  pulse: '10',
  backupExpected: '0',
  expectedStandbys: '0',
};

/** A connection as its form holds it: the text as typed, '' for an empty field. */
export type ConnectionDraft = typeof emptyDraft;

/** The default port of an engine. */
export function usualPort({ engine }: Pick<ConnectionDraft, 'engine'>): string {
  return String(traitsOf(engine).port);
}

/** Whether the host is the path of a Unix socket, which has no TLS and no tunnel. */
export function isSocket({ host }: Pick<ConnectionDraft, 'host'>): boolean {
  return host.trim().startsWith('/');
}

/** The address fields in the format of the routes. */
export function addressOf(draft: ConnectionDraft) {
  const { engine, host, port, database, username } = draft;
  return {
    engine,
    host: host.trim(),
    username: username.trim(),
    ...(port.trim() !== '' && { port: Number(port) }),
    ...(database.trim() !== '' && { database: database.trim() }),
  };
}

/** The SSH tunnel in the format of the routes. */
export function sshOf({ sshUsername, sshHost, sshPort, sshKey }: ConnectionDraft) {
  return {
    username: sshUsername.trim(),
    host: sshHost.trim(),
    ...(sshPort.trim() !== '' && { port: Number(sshPort) }),
    ...(sshKey.trim() !== '' && { key: sshKey }),
  };
}
