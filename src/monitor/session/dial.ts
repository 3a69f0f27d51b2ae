import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Address, type Endpoint, pinnedSocket, refuseSocket, resolveTarget } from './address.ts';
import type { Target } from './session.ts';
import { openTunnel, type Tunnel } from './ssh-tunnel.ts';

/** How the servers of a target are reached during a run. */
export interface Dialler {
  /** A stream of its own to an endpoint, for `pg` to connect. */
  dial(endpoint: Endpoint, connecting: AbortSignal): Promise<Duplex>;
  /** SHA-256 of the bastion's key, once a tunnel stands; null without one. */
  hostKey(): string | null;
  close(): void;
}

/** The servers that a target names, in their order; several stand in `host` as `one:5432,two:5433`. */
export function endpointsOf({ host, port }: Pick<Target, 'host' | 'port'>): Endpoint[] {
  if (!host.includes(',')) return [{ host, port }];
  return host.split(',').map((part) => {
    const [, name = part, own] = /^(?:\[?([^[\]]*?)\]?)(?::([0-9]+))?$/.exec(part) ?? [];
    return { host: name, port: Number(own ?? port) };
  });
}

/** Dials a target's servers directly, by its Unix socket, or through its tunnel. */
export function diallerOf(target: Target, allowPrivate: boolean): Dialler {
  const resolve = resolver(allowPrivate);
  if (target.connectionType === 'ssh_tunnel' && target.tunnel) return tunnelDialler(target.tunnel, resolve);
  return {
    async dial({ host }, connecting) {
      if (target.connectionType !== 'unix_socket') return pinnedSocket(await resolve(host, connecting));
      refuseSocket(allowPrivate);
      return new Socket();
    },
    hostKey: () => null,
    close() {},
  };
}

type Resolve = (host: string, connecting: AbortSignal) => Promise<Address[]>;

// A host is resolved until that succeeds once; the whole run stays with the addresses that were allowed then.
function resolver(allowPrivate: boolean): Resolve {
  const known = new Map<string, Address[]>();
  return async (host, connecting) => {
    const addresses = known.get(host) ?? (await unlessAborted(resolveTarget(host, allowPrivate), connecting));
    known.set(host, addresses);
    return addresses;
  };
}

// The target's name is the bastion's to resolve; the bastion's own address is vetted like a target's.
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
        open = null; // the next try begins anew
        throw error;
      }
    },
    hostKey: () => hostKey,
    close() {
      open?.then(
        (standing) => standing.close(),
        () => {},
      );
    },
  };
}

/** What `work` gives, or the reason of `signal` when that aborts first. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
