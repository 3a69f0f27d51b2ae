/**
 * The header that keeps browsers from plain HTTP for a year (RFC 6797), name and value; empty if the service's public
 * address is not https. It does not include subdomains, which may belong to others.
 */
export function transportSecurity(publicUrl: string | null): readonly [] | readonly [string, string] {
  return publicUrl?.startsWith('https:') ? ['strict-transport-security', 'max-age=31536000'] : [];
}
