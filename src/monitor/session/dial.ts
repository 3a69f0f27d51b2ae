import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  type Address,
  type Endpoint,
  pinnedSocket,
  requireSocketAllowed,
  resolveTarget,
} from '../../platform/network/address.ts';
import type { Target } from './session.ts';
import { openTunnel, type Tunnel } from './ssh-tunnel.ts';

/** Connects to the servers of a target during a run. */
export interface Dialler {
  /** A new stream to an endpoint, for the driver to connect. */
  dial(endpoint: Endpoint, connecting: AbortSignal): Promise<Duplex>;
  /** Names the server that an endpoint leads to: a host name may lead to another one by the next try. */
  findServer(endpoint: Endpoint, connecting: AbortSignal): Promise<string>;
  /** SHA-256 of the SSH server's key, once a tunnel is open; null without one. */
  hostKey(): string | null;
  close(): void;
}

/** The servers of a target, in order. `host` lists several as `one:5432,two:5433`. */
export function endpointsOf({ host, port }: Pick<Target, 'host' | 'port'>): Endpoint[] {
  if (!host.includes(',')) return [{ host, port }];
  return host.split(',').map((part) => {
    const [, name = part, own] = /^(?:\[?([^[\]]*?)\]?)(?::([0-9]+))?$/.exec(part) ?? [];
    return { host: name, port: Number(own ?? port) };
  });
}

/** Connects directly, through a Unix socket, or through an SSH tunnel. */
export function diallerOf(target: Target, allowPrivate: boolean): Dialler {
  const resolve = resolver(allowPrivate);
  if (target.connectionType === 'ssh_tunnel' && target.tunnel) return tunnelDialler(target.tunnel, resolve);
  return {
    async dial({ host }, connecting) {
      if (target.connectionType !== 'unix_socket') return pinnedSocket(await resolve(host, connecting));
      requireSocketAllowed(allowPrivate);
      return new Socket();
    },
    async findServer({ host, port }, connecting) {
      if (target.connectionType === 'unix_socket') return `${host}:${port}`;
      const addresses = (await resolve(host, connecting)).map(({ address }) => address).toSorted();
      return `${addresses.join()}:${port}`;
    },
    hostKey: () => null,
    close() {},
  };
}

type Resolve = (host: string, connecting: AbortSignal) => Promise<Address[]>;

// Each host is resolved once per run. The whole run uses the addresses that were allowed then.
function resolver(allowPrivate: boolean): Resolve {
  const known = new Map<string, Address[]>();
  return async (host, connecting) => {
    const addresses = known.get(host) ?? (await unlessAborted(resolveTarget(host, allowPrivate), connecting));
    known.set(host, addresses);
    return addresses;
  };
}

// The SSH server resolves the target's host name. The address of the SSH server itself is checked like a target's.
function tunnelDialler(tunnel: Tunnel, resolve: Resolve): Dialler {
  let open: ReturnType<typeof openTunnel> | null = null;
  let hostKey: string | null = null;
  return {
    async dial(endpoint, connecting) {
      open ??= resolve(tunnel.host, connecting).then((addresses) =>
        openTunnel(tunnel, addresses, connecting),
      );
      try {
        const standing = await open;
        ({ hostKey } = standing);
        return await standing.forward(endpoint, connecting);
      } catch (error) {
        await open.then(
          (standing) => standing.close(),
          () => {},
        );
        open = null; // the next try opens a new tunnel
        throw error;
      }
    },
    findServer: async ({ host, port }) => `${host}:${port}`,
    hostKey: () => hostKey,
    close() {
      open?.then(
        (standing) => standing.close(),
        () => {},
      );
    },
  };
}

/** Settles as `work`, or rejects with the reason of `signal` if that aborts first. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
