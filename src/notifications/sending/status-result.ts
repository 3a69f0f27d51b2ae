import { STATUS_CODES } from 'node:http';
import { cleanText } from '../../platform/text/clean-text.ts';

/** An answer's status in one line. Of a redirect, it names the origin only: the path may be a secret. */
export function statusResult(status: number, location: string | undefined, url: URL): string {
  const line = `${status} ${STATUS_CODES[status] ?? 'unknown status'}`;
  if (status < 300 || status > 399 || status === 304) return line;
  const target = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : null;
  const origin = target === null || target.origin === 'null' ? null : target.origin;
  return `${line}: it redirects${origin === null ? '' : ` to ${cleanText(origin, 200)}`}, and redirects are not followed.`;
}
