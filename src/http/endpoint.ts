import { type Static, type TObject, type TSchema, type TUnsafe, Type } from 'typebox';
import type { Read } from '../database/read.ts';

/** What an endpoint is asked. */
interface EndpointRequest<Query extends TObject> {
  accountId: number;
  /** Has passed the endpoint's schema. */
  query: Static<Query>;
  /** `:id` of the path, where it has one. */
  id: string;
  /** The request's own absolute URL. */
  url: string;
}

/** One endpoint of the API: its path, its parameters, its answer's form, and how it is read. */
export interface Endpoint<Query extends TObject = TObject, Response extends TSchema = TSchema> {
  /** Below `/api/v1`. */
  path: string;
  /** The operation's name in generated clients. */
  operationId: string;
  /** One line, for the reference. */
  summary: string;
  /** What a caller should know beyond it, in Markdown; for the reference. */
  description: string;
  /** When a 404 is answered though the path is known; absent where that never happens. */
  notFound?: string;
  query: Query;
  response: Response;
  /**
   * `kept`: the answer depends on nothing but the account's data, so it is good while its generation stands.
   * `tagged`: it depends on the time too; read afresh, and told by its entity tag. `unstored`: never stored anywhere.
   */
  reuse: 'kept' | 'tagged' | 'unstored';
  /**
   * Up to which instant the answer must miss nothing, as PostgreSQL writes it; null where none is asked for. What
   * happens is stamped a moment before it can be read. Throws an ApiError for a bad range.
   */
  wholeUpTo?(query: Static<Query>): string | null;
  /** Reads the answer. Throws an ApiError for whatever it can't give. */
  answer(read: Read, request: EndpointRequest<Query>): Promise<{ body: Static<Response>; link?: string }>;
}

/** Ties an endpoint's schemas to its handler's types. */
export function endpoint<Query extends TObject, Response extends TSchema>(
  definition: Endpoint<Query, Response>,
): Endpoint<Query, Response> {
  return definition;
}

/** The schema of a value that may be absent: the key is there and null. */
export function nullable<Schema extends TSchema & { type: string }>(
  schema: Schema,
): TUnsafe<Static<Schema> | null> {
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [schema.type, 'null'] });
}
