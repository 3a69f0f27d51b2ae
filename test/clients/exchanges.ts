import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Exchange } from '../contract/recorded-exchanges.ts';

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
const PATHS = Object.keys(document.paths).map((path) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`));

/** The path in the document's form: no repeated or trailing slashes. The service accepts both forms. */
export function documented(path: string): string {
  const [before = '', ...query] = path.split('?');
  const folded = before.replace(/\/+/g, '/').replace(/(?<=.)\/$/, '');
  return [folded, ...query].join('?');
}

/** Why the document does not cover an exchange; undefined when it does. */
function outside({ method, path }: Exchange): string | undefined {
  if (method !== 'GET') return `by ${method}: the document has GET`;
  const [plain = '', ...query] = documented(path).split('?');
  if (!PATHS.some((known) => known.test(plain))) return 'of paths that the document does not have';
  if (!isDecodable(plain)) return 'of paths that cannot be decoded: Prism ends with an error';
  if (new URLSearchParams(query.join('?')).getAll('action_type').length > 1)
    return 'with several action types: the document has one, so that generated clients stay as they are';
  return undefined;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** The recorded exchanges that the document covers, without duplicates that differ only in times and request ids. */
export async function readExchanges(
  folder: string,
): Promise<{ exchanges: Exchange[]; all: number; skipped: Map<string, number> }> {
  const found = new Map<string, Exchange>();
  const skipped = new Map<string, number>();
  let all = 0;
  for (const file of readdirSync(folder)) {
    for await (const line of createInterface({ input: createReadStream(join(folder, file)) })) {
      const exchange: Exchange = JSON.parse(line);
      all += 1;
      const why = outside(exchange);
      if (why) skipped.set(why, (skipped.get(why) ?? 0) + 1);
      else found.set(kind(exchange), exchange);
    }
  }
  return { exchanges: [...found.values()], all, skipped };
}

// Keys differ between tests. Only the presence and the format of headers matter.
function kind({ path, status, headers, body, requestHeaders }: Exchange): string {
  const form = Object.entries(headers).map(([name, value]) => `${name}: ${value.replace(/[0-9a-f]+/g, '0')}`);
  return JSON.stringify([path, status, form, body, 'authorization' in requestHeaders]);
}

/** Invalid lists: without `meta`, with a text id, with a record without fields, with a non-numeric limit, with an unknown status. */
export function spoilt(list: Exchange): Exchange[] {
  const body = JSON.parse(Buffer.from(list.body, 'base64').toString());
  const { 'content-length': _, ...headers } = list.headers;
  const [first] = body.data;
  const bodies = [{ data: body.data }, { ...body, data: [{ ...first, id: 'one' }] }, { ...body, data: [{}] }];
  return [
    ...bodies.map((wrong) => ({
      ...list,
      headers,
      body: Buffer.from(JSON.stringify(wrong)).toString('base64'),
    })),
    { ...list, headers: { ...list.headers, 'x-ratelimit-limit': 'many' } },
    { ...list, status: 418 },
  ];
}
