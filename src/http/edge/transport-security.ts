/**
 * Names and values in turn of the header that keeps browsers from plain HTTP for a year (RFC 6797); none where the service's
 * public address is not https. It says nothing of subdomains, which may be other people's.
 */
export function transportSecurity(publicUrl: string | null): readonly [] | readonly [string, string] {
  return publicUrl?.startsWith('https:') ? ['strict-transport-security', 'max-age=31536000'] : [];
}
