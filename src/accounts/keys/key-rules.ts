import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Rejection } from '../../platform/rejection.ts';
import { ENDPOINT_GROUPS, type EndpointGroup } from '../../vocabulary/plans.ts';

/** What a key may do. */
export interface KeyRules {
  /** The endpoint groups that it reaches; null = all. */
  scopes: readonly EndpointGroup[] | null;
  /** The addresses and networks from which it may be used, as {@link allowedAddress} writes them; null = any. */
  allowedAddresses: readonly string[] | null;
}

/** Rules as somebody wrote them; absent = not mentioned. */
export interface WrittenRules {
  scopes?: readonly string[] | null;
  allowedAddresses?: readonly string[] | null;
}

/** Addresses and networks of one key. */
const MOST_ADDRESSES = 100;

/** What to write instead of a text that is no address. */
const WRONG_ADDRESS =
  'Write an address such as 203.0.113.7 or 2001:db8::7, or a network such as 203.0.113.0/24 with no bits set after its prefix.';

// The prefix of IPv4 addresses in IPv6. Clients with such an address count as their IPv4 address.
const MAPPED_BITS = 96;

/**
 * An address or a network in its only form: without an IPv6 prefix of an IPv4 address, and a network of one address as that
 * address. Returns null for anything else, such as a network with bits set after its prefix, a zone, or leading zeros.
 */
export function allowedAddress(text: string): string | null {
  const [, address = '', written] = /^([0-9A-Fa-f.:]+)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text.trim()) ?? [];
  if (isIP(address) === 0) return null;
  let network = ipaddr.parse(address);
  let bits = written === undefined ? 8 * network.toByteArray().length : Number(written);
  if (network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= MAPPED_BITS) {
    network = network.toIPv4Address();
    bits -= MAPPED_BITS;
  }
  const bytes = network.toByteArray();
  if (bits > 8 * bytes.length || bytes.some((byte, at) => hasBitsAfter(byte, bits - 8 * at))) return null;
  const plain = network.toString();
  return bits === 8 * bytes.length ? plain : `${plain}/${bits}`;
}

/** Whether a byte has bits set after its first `bits`. */
function hasBitsAfter(byte: number, bits: number): boolean {
  return (byte & (0xff >> Math.min(Math.max(bits, 0), 8))) !== 0;
}

/**
 * The rules as they are stored: scopes in the order of the groups, addresses in their only form and order, each once. Throws
 * a {@link Rejection} for an empty list, because it could mean both nothing and everything, and for what is no address.
 */
export function requireRules({ scopes, allowedAddresses }: WrittenRules): Partial<KeyRules> {
  return {
    ...(scopes !== undefined && { scopes: scopes && requireScopes(scopes) }),
    ...(allowedAddresses !== undefined && {
      allowedAddresses: allowedAddresses && requireAddresses(allowedAddresses),
    }),
  };
}

function requireScopes(scopes: readonly string[]): EndpointGroup[] {
  const chosen = ENDPOINT_GROUPS.filter((group) => scopes.includes(group));
  if (chosen.length > 0) return chosen;
  throw rejected('scopes', 'Choose at least one group of endpoints.');
}

function requireAddresses(texts: readonly string[]): string[] {
  const addresses = new Set(
    texts.map((text) => allowedAddress(text) ?? reject('allowed_addresses', WRONG_ADDRESS)),
  );
  if (addresses.size === 0) throw rejected('allowed_addresses', 'Write at least one address or network.');
  if (addresses.size <= MOST_ADDRESSES) return [...addresses].sort();
  throw rejected('allowed_addresses', `Write at most ${MOST_ADDRESSES} addresses and networks.`);
}

function reject(parameter: string, message: string): never {
  throw rejected(parameter, message);
}

function rejected(parameter: string, message: string): Rejection {
  return new Rejection('invalid_parameter', message, { parameter });
}
