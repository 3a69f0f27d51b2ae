import { isIPv4, isIPv6 } from 'node:net';

const LONGEST_NAME = 253;
const LABEL = /^[\w-]{1,63}$/;
// What a URL takes for the end of an IPv4 address, in decimal or hexadecimal (https://url.spec.whatwg.org/#ends-in-a-number-checker).
const NUMBER = /^(?:\d+|0x[0-9a-f]*)$/i;

/**
 * Whether a text is a host and, where it has one, a port (RFC 9110, 7.2): a name, an IPv4 address, or an IPv6 address in brackets.
 * Every text that passes makes a URL.
 */
export function isHost(text: string): boolean {
  const [, bracketed, plain = '', port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false;
  if (bracketed !== undefined) return isIPv6(bracketed) && !bracketed.includes('%');
  return isIPv4(plain) || isName(plain);
}

function isName(text: string): boolean {
  const labels = text.replace(/\.$/, '').split('.');
  if (text.length > LONGEST_NAME || !labels.every((label) => LABEL.test(label))) return false;
  // A label that says that it is Punycode may not be.
  return !NUMBER.test(labels.at(-1) ?? '') && (!/xn--/i.test(text) || URL.canParse(`http://${text}/`));
}
