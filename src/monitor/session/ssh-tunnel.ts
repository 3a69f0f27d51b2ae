import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { Client, ConnectConfig } from 'ssh2';
import { type Address, type Endpoint, pinnedSocket } from '../../platform/network/address.ts';
import { OwnWords } from '../../platform/text/own-words.ts';
import { ConnectRefused } from './connect-refused.ts';

/** The SSH server has another key than before, or refuses the login. */
export class SshRefused extends ConnectRefused {}

/** The SSH server of a tunnel, and how to log in. Plain data. */
export interface Tunnel {
  host: string;
  port: number;
  username: string;
  /** OpenSSH or PEM; null = the agent's keys. */
  privateKey: string | null;
  /** The agent's socket (`SSH_AUTH_SOCK`); null = there is none. */
  agentSocket: string | null;
  /** SHA-256 of the key that the SSH server showed first, base64; null if it was never reached. */
  hostKey: string | null;
}

/** An open tunnel. */
interface OpenTunnel {
  hostKey: string;
  /** A stream to an endpoint, whose host name the SSH server resolves. */
  forward(endpoint: Endpoint, connecting: AbortSignal): Promise<Duplex>;
  close(): void;
}

/**
 * Logs in to an SSH server at one of `addresses`. Throws {@link SshRefused} if its key is not the pinned one or it
 * refuses the login, and the original error otherwise.
 */
export async function openTunnel(
  tunnel: Tunnel,
  addresses: Address[],
  connecting: AbortSignal,
): Promise<OpenTunnel> {
  const { Client } = await import('ssh2'); // 20 ms that a run without a tunnel saves
  const client = new Client();
  let hostKey = '';
  const verify = (key: Buffer) => {
    hostKey = createHash('sha256').update(key).digest('base64');
    return tunnel.hostKey === null || tunnel.hostKey === hostKey;
  };
  // Without it, each of 60 statements waited 80 ms for a delayed acknowledgement.
  const socket = pinnedSocket(addresses).setNoDelay(true);
  const giveUp = () => socket.destroy(connecting.reason);
  connecting.addEventListener('abort', giveUp);
  try {
    await connect(client, {
      sock: socket.connect(tunnel.port, tunnel.host),
      username: tunnel.username,
      hostVerifier: verify,
      readyTimeout: 0, // `connecting` limits the time
      ...login(tunnel),
    });
  } catch (error) {
    client.destroy();
    connecting.throwIfAborted();
    if (hostKey !== '' && tunnel.hostKey !== null && hostKey !== tunnel.hostKey)
      throw new SshRefused(CHANGED, COMPARE);
    throw isAuthenticationError(error)
      ? new SshRefused(`the SSH server ${tunnel.host} refuses the login of ${tunnel.username}`, ALLOW)
      : error;
  } finally {
    connecting.removeEventListener('abort', giveUp);
  }
  client.on('error', () => {}); // its streams end with it
  return {
    hostKey,
    forward: (endpoint, signal) => forward(client, endpoint, signal),
    close: () => client.destroy(),
  };
}

const CHANGED =
  'the SSH server has another host key than before; if that is right, accept the new key with "connection change --ssh"';
const COMPARE =
  'Ask the administrator of the SSH server whether its key was changed. Only then accept the new key: run "connection change --ssh …" again.';
const ALLOW =
  'Add the public key to authorized_keys of this user on the SSH server, or correct the user and the key ("connection change --ssh … --ssh-key-file …").';

function login({ privateKey, agentSocket }: Tunnel): Pick<ConnectConfig, 'privateKey' | 'agent'> {
  if (privateKey !== null) return { privateKey };
  if (agentSocket !== null) return { agent: agentSocket };
  throw new SshRefused(
    'no SSH key is stored and no SSH agent is running: give --ssh-key-file or set SSH_AUTH_SOCK',
    'Store a key with "connection change --ssh … --ssh-key-file …", or run the service with SSH_AUTH_SOCK of an agent.',
  );
}

function connect(client: Client, config: ConnectConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('ready', resolve);
    client.on('error', reject);
    client.once('close', () => reject(new OwnWords('the SSH server closed the connection')));
    client.connect(config);
  });
}

function isAuthenticationError(error: unknown): boolean {
  return error instanceof Error && 'level' in error && error.level === 'client-authentication';
}

function forward(client: Client, { host, port }: Endpoint, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    client.forwardOut('127.0.0.1', 0, host, port, (error, channel) => {
      signal.removeEventListener('abort', giveUp);
      if (error) reject(new OwnWords(`the SSH server does not reach ${host}:${port}`));
      else resolve(asSocket(channel));
    });
  });
}

// pg asks a stream to connect, but a channel is already connected. The channel closes when the server ends, like a
// socket.
function asSocket(channel: Duplex): Duplex {
  channel.once('end', () => channel.destroy());
  return Object.assign(channel, {
    connect: () => queueMicrotask(() => channel.emit('connect')),
    setNoDelay() {},
    setKeepAlive() {},
    ref() {},
    unref() {},
  });
}
