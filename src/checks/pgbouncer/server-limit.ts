/** How many connections a server of the account allows, which may be behind a pooler. */
export interface ServerLimit {
  /** As the pooler would name it: '' for a server on its own machine. */
  host: string;
  port: number;
  /** The name of its connection. */
  name: string;
  /** max_connections without those that are reserved for administrators. */
  allowed: number;
}

/** Hosts that mean the machine of the pooler itself. Paths are folders of sockets. */
const LOCAL = /^(?:|\/.*|127\.0\.0\.1|::1|localhost)$/;

/** One text for one server: all names of the pooler's own machine are the same. */
export function serverKey(host: string | null, port: number): string {
  const named = (host ?? '').toLowerCase();
  return `${LOCAL.test(named) ? '' : named} ${port}`;
}

/**
 * The servers that a pooler on `host` could name. The service knows them by their names in its own network: one on the pooler's
 * host is local to the pooler, and one that is local to the service is no other machine's.
 */
export function limitsBehind(host: string, servers: readonly ServerLimit[]): ServerLimit[] {
  const isHere = LOCAL.test(host.toLowerCase());
  return servers
    .filter((server) => isHere || !LOCAL.test(server.host.toLowerCase()))
    .map((server) => (server.host.toLowerCase() === host.toLowerCase() ? { ...server, host: '' } : server));
}
