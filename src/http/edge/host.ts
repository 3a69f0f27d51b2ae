import { isIPv4, isIPv6 } from 'node:net';

const LONGEST_NAME = 253;
const LABEL = /^[\w-]{1,63}$/;
// What URLs treat as the end of an IPv4 address, decimal or hexadecimal (https://url.spec.whatwg.org/#ends-in-a-number-checker).
const NUMBER = /^(?:\d+|0x[0-9a-f]*)$/i;

// The last accepted text. Most requests name the same host.
let accepted: string | null = null;

/**
 * Whether a text is a host with an optional port (RFC 9110, 7.2): a name, an IPv4 address, or an IPv6 address in brackets.
 * Every accepted text makes a valid URL.
 */
export function isHost(text: string): boolean {
  if (text === accepted) return true;
  const isValid = parses(text);
  if (isValid) accepted = text;
  return isValid;
}

function parses(text: string): boolean {
  const [, bracketed, plain = '', port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false;
  if (bracketed !== undefined) return isIPv6(bracketed) && !bracketed.includes('%');
  return isIPv4(plain) || isName(plain);
}

function isName(text: string): boolean {
  const labels = text.replace(/\.$/, '').split('.');
  if (text.length > LONGEST_NAME || !labels.every((label) => LABEL.test(label))) return false;
  // A label with the Punycode prefix may be invalid.
  return !NUMBER.test(labels.at(-1) ?? '') && (!/xn--/i.test(text) || URL.canParse(`http://${text}/`));
}
