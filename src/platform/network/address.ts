import { lookup } from 'node:dns/promises';
import { type LookupFunction, Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { OwnWords } from '../text/own-words.ts';
import { Lookups } from './lookups.ts';

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
export class ForbiddenAddress extends OwnWords {}

// Metadata services outside the link-local range: AWS, Google Cloud, Azure, Alibaba Cloud, Oracle Cloud.
const METADATA = new Set([
  'fd00:ec2::254',
  'fd20:ce::254',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
]);

/** What an address is used for: which setting allows private ones, and how a refusal says so. */
export interface AddressUse {
  /** After "a private address, which dbvitals …". */
  privateOnly: string;
}

const TARGET: AddressUse = {
  privateOnly: 'which dbvitals monitors only if DBVITALS_ALLOW_PRIVATE_TARGETS is yes',
};

/** Destinations of notifications. Their setting is apart from that of monitored databases. */
export const DESTINATION: AddressUse = {
  privateOnly: 'to which dbvitals sends only if DBVITALS_ALLOW_PRIVATE_DESTINATIONS is yes',
};

/**
 * Resolves a host; all its addresses are allowed. Throws {@link ForbiddenAddress} if any is link-local, belongs to a
 * metadata service, or is private while `allowPrivate` is off. Throws what the resolver throws.
 */
export async function resolveTarget(host: string, allowPrivate: boolean, use = TARGET): Promise<Address[]> {
  const addresses: Address[] = await lookups.look(host);
  for (const { address } of addresses) requireAllowed(host, address, allowPrivate, use);
  return addresses;
}

const lookups = new Lookups((host) => lookup(host, { all: true }));

/** Throws {@link ForbiddenAddress} as {@link resolveTarget} does, for one address of a host. */
export function requireAllowed(host: string, text: string, allowPrivate: boolean, use = TARGET): void {
  const address = ipaddr.process(text.replace(/%.*$/, ''));
  const embedded = address instanceof ipaddr.IPv6 ? embeddedAddresses(address) : [];
  if ([address, ...embedded].some((each) => each.range() === 'linkLocal' || METADATA.has(each.toString()))) {
    throw new ForbiddenAddress(`${host} is a link-local or metadata address, which dbvitals never contacts`);
  }
  if (!allowPrivate && !isPublic(address))
    throw new ForbiddenAddress(`${host} is at a private address, ${use.privateOnly}`);
}

/** Throws {@link ForbiddenAddress} if private targets are off: a Unix socket is on this machine. */
export function requireSocketAllowed(allowPrivate: boolean): void {
  if (!allowPrivate) throw new ForbiddenAddress(`a Unix socket is a private address, ${TARGET.privateOnly}`);
}

// An IPv6 address that a NAT64 gateway translates by the well-known prefix (RFC 6052) is judged as the IPv4 address.
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
// IPv4-compatible addresses (RFC 4291), which ipaddr.js takes for unicast.
const COMPATIBLE = ipaddr.IPv6.parseCIDR('::/96');

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  if (address.match(NAT64)) return new ipaddr.IPv4(address.toByteArray().slice(12)).range() === 'unicast';
  return address.range() === 'unicast' && !address.match(COMPATIBLE);
}

// Where IPv6 addresses that gateways translate hold an IPv4 address: the last four bytes; after the prefixes of RFC 6052,
// which leave out byte 8; and after the prefix of 6to4.
const PLACES: Readonly<Record<string, readonly (readonly number[])[]>> = {
  rfc6052: [
    [12, 13, 14, 15],
    [6, 7, 9, 10],
    [7, 9, 10, 11],
    [9, 10, 11, 12],
  ],
  rfc6145: [[12, 13, 14, 15]],
  '6to4': [[2, 3, 4, 5]],
};

function embeddedAddresses(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  const places = address.match(COMPATIBLE) ? PLACES['rfc6145'] : PLACES[address.range()];
  return (places ?? []).map((place) => new ipaddr.IPv4(place.map((at) => bytes[at] ?? 0)));
}

/** Answers a lookup with these addresses only, even if the host name resolves to others by then. */
export function pinnedLookup(addresses: readonly Address[]): LookupFunction {
  return (_host, options, answer) => {
    const [first] = addresses;
    if (options.all) answer(null, [...addresses]);
    else answer(null, first?.address ?? '', first?.family);
  };
}

/** A socket that connects to these addresses only. */
export function pinnedSocket(addresses: Address[]): Socket {
  const socket = new Socket();
  const connect = socket.connect.bind(socket);
  const lookup = pinnedLookup(addresses);
  return Object.assign(socket, {
    connect: (where: number | string, host: string) =>
      typeof where === 'string' ? connect(where) : connect({ port: where, host, lookup }),
  });
}
