import { lookup } from 'node:dns/promises';
import { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address as Node's resolver gives it. */
export interface Address {
  address: string;
  family: number;
}

/** One server of a target. */
export interface Endpoint {
  host: string;
  port: number;
}

/** The target has an address that dbvitals does not connect to. A retry does not help. */
export class ForbiddenAddress extends Error {}

// Metadata services outside the link-local range: AWS, Google Cloud, Azure, Alibaba Cloud, Oracle Cloud.
const METADATA = new Set([
  'fd00:ec2::254',
  'fd20:ce::254',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
]);

/**
 * Resolves a host; all its addresses are allowed. Throws {@link ForbiddenAddress} if any is link-local, belongs to a
 * metadata service, or is private while `allowPrivate` is off. Throws what the resolver throws.
 */
export async function resolveTarget(host: string, allowPrivate: boolean): Promise<Address[]> {
  const addresses = await lookup(host, { all: true });
  for (const { address } of addresses) requireAllowed(host, address, allowPrivate);
  return addresses;
}

function requireAllowed(host: string, text: string, allowPrivate: boolean): void {
  const address = translated(ipaddr.process(text.replace(/%.*$/, '')));
  const range = address.range();
  if (range === 'linkLocal' || METADATA.has(address.toString())) {
    throw new ForbiddenAddress(`${host} is a link-local or metadata address, which dbvitals never contacts`);
  }
  if (range !== 'unicast' && !allowPrivate)
    throw new ForbiddenAddress(`${host} is at a private address, ${SETTING_HINT}`);
}

const SETTING_HINT = 'which dbvitals monitors only if DBVITALS_ALLOW_PRIVATE_TARGETS is yes';

/** Throws {@link ForbiddenAddress} if private targets are off: a Unix socket is on this machine. */
export function requireSocketAllowed(allowPrivate: boolean): void {
  if (!allowPrivate) throw new ForbiddenAddress(`a Unix socket is a private address, ${SETTING_HINT}`);
}

// An IPv6 address that a NAT64 gateway translates (RFC 6052) is judged as the IPv4 address.
function translated(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  return address instanceof ipaddr.IPv6 && address.range() === 'rfc6052'
    ? new ipaddr.IPv4(address.toByteArray().slice(-4))
    : address;
}

/** A socket that connects to these addresses only, even if the host name resolves to others by then. */
export function pinnedSocket(addresses: Address[]): Socket {
  const socket = new Socket();
  const connect = socket.connect.bind(socket);
  const toPinned = (port: number, host: string) =>
    connect({
      port,
      host,
      lookup: (_host, options, answer) => {
        const [first] = addresses;
        if (options.all) answer(null, addresses);
        else answer(null, first?.address ?? '', first?.family);
      },
    });
  return Object.assign(socket, {
    connect: (where: number | string, host: string) =>
      typeof where === 'string' ? connect(where) : toPinned(where, host),
  });
}
