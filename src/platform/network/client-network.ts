import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

// A client with one IPv6 address has 2^64 of them, so its network counts.
const IPV6_NETWORK_BITS = 64;

/** What an address counts as: an IPv4 address as itself, an IPv6 address as its /64 network. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/${IPV6_NETWORK_BITS}`).toString();
}
