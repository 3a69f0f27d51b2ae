import type pg from 'pg';
import { apiUrls } from '../../http/api-url.ts';
import { serializerOnUse } from '../../http/edge/compile-schemas.ts';
import { checkQuery } from '../../http/edge/parameters.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { Rejection } from '../../platform/rejection.ts';
import { readOnce } from '../../store/exchange/read-once.ts';
import { type CompiledEndpoint, compileOnUse } from '../prepare-answer.ts';

/** An answer as a client parses it, or the error instead of it. */
export interface Asked {
  // biome-ignore lint/suspicious/noExplicitAny: the shape differs by endpoint, and tests compare it.
  body: any;
  error: { code: string; parameter: string | null } | null;
  /** `after` and the like of the Link header's `next`; null on the last page. */
  next: URLSearchParams | null;
}

const parseUrl = apiUrls([]);

type Compiled = CompiledEndpoint & { serialize: (body: unknown) => string };
/** As the service does, each schema is compiled once. */
const compiled = new WeakMap<Endpoint, Compiled>();
function compile(endpoint: Endpoint): Compiled {
  const made = compiled.get(endpoint) ?? {
    ...compileOnUse(endpoint),
    serialize: serializerOnUse(endpoint.response),
  };
  compiled.set(endpoint, made);
  return made;
}

/** Asks an endpoint as the service does, without the gate. `asked` is a query such as `page=2`. */
export async function askEndpoint(
  reader: pg.Pool,
  endpoint: Endpoint,
  accountId: number,
  { id = '', asked = '' }: { id?: number | string; asked?: string } = {},
): Promise<Asked> {
  const url = `http://localhost/api/v1${endpoint.path.replace(':id', String(id))}?${asked}`;
  const { validate, write, serialize } = compile(endpoint);
  try {
    const query = checkQuery(parseUrl(`/?${asked}`).query, endpoint.query, validate);
    const request = { accountId, query, id: String(id), url };
    const { result } = await readOnce(reader, accountId, (read) => write(read, request), false);
    const body = JSON.parse(result.json);
    if (serialize(body) !== result.json) throw new Error(`${url} is not written as its schema says.`);
    const [, next] = /<([^>]*)>; rel="next"/.exec(result.link ?? '') ?? [];
    return {
      body,
      error: null,
      next: next === undefined ? null : new URL(next).searchParams,
    };
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return { body: null, error: { code: error.code, parameter: error.parameter }, next: null };
  }
}
