import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { Client, ConnectConfig } from 'ssh2';
import { type Address, type Endpoint, pinnedSocket } from './address.ts';

/** The bastion of a tunnel is not the one that was known, or does not let us in; trying again does not help. */
export class SshRefused extends Error {}

/** The bastion that a target is reached through, and how to log in: plain data. */
export interface Tunnel {
  host: string;
  port: number;
  username: string;
  /** OpenSSH or PEM; null = the agent's keys. */
  privateKey: string | null;
  /** The agent's socket (`SSH_AUTH_SOCK`); null = there is none. */
  agentSocket: string | null;
  /** SHA-256 of the key that the bastion showed first, base64; null = it was never reached. */
  hostKey: string | null;
}

/** A tunnel that stands. */
interface OpenTunnel {
  hostKey: string;
  /** A stream to an endpoint as the bastion sees it. */
  forward(endpoint: Endpoint, connecting: AbortSignal): Promise<Duplex>;
  close(): void;
}

/**
 * Logs in at a bastion at one of `addresses`. Throws {@link SshRefused} when its key is not the pinned one or it
 * refuses the login, and what went wrong otherwise.
 */
export async function openTunnel(
  tunnel: Tunnel,
  addresses: Address[],
  connecting: AbortSignal,
): Promise<OpenTunnel> {
  const { Client } = await import('ssh2'); // 20 ms that a run without a tunnel does not pay
  const client = new Client();
  let hostKey = '';
  const verify = (key: Buffer) => {
    hostKey = createHash('sha256').update(key).digest('base64');
    return tunnel.hostKey === null || tunnel.hostKey === hostKey;
  };
  // Without it each statement of 60 waited 80 ms for a delayed acknowledgement.
  const socket = pinnedSocket(addresses).setNoDelay(true);
  const giveUp = () => socket.destroy(connecting.reason);
  connecting.addEventListener('abort', giveUp);
  try {
    await connected(client, {
      sock: socket.connect(tunnel.port, tunnel.host),
      username: tunnel.username,
      hostVerifier: verify,
      readyTimeout: 0, // `connecting` has the say
      ...login(tunnel),
    });
  } catch (error) {
    client.destroy();
    connecting.throwIfAborted();
    if (hostKey !== '' && tunnel.hostKey !== null && hostKey !== tunnel.hostKey)
      throw new SshRefused(CHANGED);
    throw authenticationFailed(error)
      ? new SshRefused(`the bastion ${tunnel.host} refuses the login of ${tunnel.username}`)
      : error;
  } finally {
    connecting.removeEventListener('abort', giveUp);
  }
  client.on('error', () => {}); // the streams through it end with it
  return {
    hostKey,
    forward: (endpoint, signal) => forwarded(client, endpoint, signal),
    close: () => client.destroy(),
  };
}

const CHANGED =
  'the bastion shows another host key than before; if that is right, forget the old one with "connection change --ssh"';

function login({ privateKey, agentSocket }: Tunnel): Pick<ConnectConfig, 'privateKey' | 'agent'> {
  if (privateKey !== null) return { privateKey };
  if (agentSocket !== null) return { agent: agentSocket };
  throw new SshRefused('no SSH key is stored and no agent runs: give --ssh-key-file or set SSH_AUTH_SOCK');
}

function connected(client: Client, config: ConnectConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('ready', resolve);
    client.on('error', reject);
    client.once('close', () => reject(new Error('the bastion closed the connection')));
    client.connect(config);
  });
}

function authenticationFailed(error: unknown): boolean {
  return error instanceof Error && 'level' in error && error.level === 'client-authentication';
}

function forwarded(client: Client, { host, port }: Endpoint, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    client.forwardOut('127.0.0.1', 0, host, port, (error, channel) => {
      signal.removeEventListener('abort', giveUp);
      if (error) reject(new Error(`the bastion does not reach ${host}:${port}`));
      else resolve(asSocket(channel));
    });
  });
}

// pg asks a stream to connect; this one is. It closes with the server's end, as a socket does.
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
