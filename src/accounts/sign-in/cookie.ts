/**
 * A cookie's name and attributes. Over https, no other host and no plain http page can set it; at the root no other path
 * either (`__Host-`, RFC 6265bis, 4.1.3). Below a base path it is sent only to that path, which `__Host-` does not allow.
 */
export function cookie(
  origin: string,
  basePath: string,
  name: string,
  sameSite: 'Strict' | 'Lax',
): { name: string; attributes: string } {
  const attributes = `Path=${basePath || '/'}; HttpOnly; SameSite=${sameSite}`;
  if (!origin.startsWith('https:')) return { name, attributes };
  const prefix = basePath === '' ? '__Host-' : '__Secure-';
  return { name: prefix + name, attributes: `${attributes}; Secure` };
}

/** The values of the cookies of a name in a request's Cookie header; several where another host or path set one too. */
export function cookieValues(header: string | undefined, name: string): string[] {
  return (header ?? '').split(';').flatMap((pair) => {
    const text = pair.trim();
    return text.startsWith(`${name}=`) ? [text.slice(name.length + 1)] : [];
  });
}
