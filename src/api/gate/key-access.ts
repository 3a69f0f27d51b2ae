import { BlockList, isIP, isIPv6 } from 'node:net';

/** What a key may do, as its row said when it was read. */
export interface KeyAccess {
  /** Raised by each change of the row's rules. The gate confirms that a request was judged by the newest. */
  readonly version: number;
  /** The endpoint groups; null = all. */
  readonly scopes: readonly string[] | null;
  /** The networks from which it may be used; null = any. */
  readonly networks: Networks | null;
}

// One list for each family: Node would take an IPv4 address for a part of `::/0`.
type Networks = Record<'ipv4' | 'ipv6', BlockList>;

/** Reads the columns of a key's row. `allowed` are addresses and networks, as `accounts/keys/key-rules.ts` writes them. */
export function keyAccess(
  version: number,
  scopes: readonly string[] | null,
  allowed: readonly string[] | null,
): KeyAccess {
  return { version, scopes, networks: allowed && parseNetworks(allowed) };
}

/** Whether the key may be used from an address, without an IPv6 prefix of an IPv4 address. */
export function allowsAddress({ networks }: KeyAccess, address: string): boolean {
  if (networks === null) return true;
  const family = familyOf(address);
  return isIP(address) !== 0 && networks[family].check(address, family);
}

function parseNetworks(allowed: readonly string[]): Networks {
  const networks = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of allowed) {
    const [address = '', bits] = entry.split('/');
    const family = familyOf(address);
    if (bits === undefined) networks[family].addAddress(address, family);
    else networks[family].addSubnet(address, Number(bits), family);
  }
  return networks;
}

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');
