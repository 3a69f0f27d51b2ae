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

/** The target is at an address that dbvitals does not contact; trying again does not help. */
export class RefusedAddress extends Error {}

// Metadata services outside the link-local range: AWS, Google Cloud, Azure, Alibaba Cloud, Oracle Cloud.
const METADATA = new Set([
  'fd00:ec2::254',
  'fd20:ce::254',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
]);

/**
 * The addresses of a host, every one of them allowed. Throws {@link RefusedAddress} when any is link-local or a
 * metadata service's, or not on the public internet while `allowPrivate` is off; and what the resolver throws.
 */
export async function resolveTarget(host: string, allowPrivate: boolean): Promise<Address[]> {
  const addresses = await lookup(host, { all: true });
  for (const { address } of addresses) refuse(host, address, allowPrivate);
  return addresses;
}

function refuse(host: string, text: string, allowPrivate: boolean): void {
  const address = carried(ipaddr.process(text.replace(/%.*$/, '')));
  const range = address.range();
  if (range === 'linkLocal' || METADATA.has(address.toString())) {
    throw new RefusedAddress(`${host} is a link-local or metadata address, which is never contacted`);
  }
  if (range !== 'unicast' && !allowPrivate)
    throw new RefusedAddress(`${host} is at a private address, ${SWITCH}`);
}

const SWITCH = 'which is watched only where DBVITALS_ALLOW_PRIVATE_TARGETS is yes';

/** Throws {@link RefusedAddress} where private targets are off: a Unix socket is this very machine. */
export function refuseSocket(allowPrivate: boolean): void {
  if (!allowPrivate) throw new RefusedAddress(`a Unix socket is a private address, ${SWITCH}`);
}

// An IPv6 address that a NAT64 gateway turns into an IPv4 one (RFC 6052) is judged as that one.
function carried(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  return address instanceof ipaddr.IPv6 && address.range() === 'rfc6052'
    ? new ipaddr.IPv4(address.toByteArray().slice(-4))
    : address;
}

/** A socket that connects a host name to these addresses and no other, whatever the name says by then. */
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
