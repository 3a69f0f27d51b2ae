import type { Static, TObject, TSchema } from '../platform/schema/schema.ts';
import type { Read } from '../store/read.ts';

/** A request to an endpoint. */
export interface EndpointRequest<Query extends TObject> {
  accountId: number;
  /** Validated by the endpoint's schema. */
  query: Static<Query>;
  /** `:id` of the path; empty if the path has none. */
  id: string;
  /** The request's own absolute URL. */
  url: string;
}

/** One endpoint of the API: its path, parameters and answer schema, and how to read the answer. */
export interface Endpoint<Query extends TObject = TObject, Response extends TSchema = TSchema> {
  /** Below `/api/v1`. */
  path: string;
  /** The operation's name in generated clients. */
  operationId: string;
  /** One line, for the reference. */
  summary: string;
  /** What else a caller should know, in Markdown; for the reference. */
  description: string;
  /** When a known path answers 404; absent = never. */
  notFound?: string;
  query: Query;
  response: Response;
  /**
   * `kept`: the answer depends only on the account's data, so it is cached and valid while the generation is unchanged.
   * `tagged`: it also depends on the time, so it is read afresh and revalidated by its entity tag. `unstored`: nobody may store it.
   */
  reuse: 'kept' | 'tagged' | 'unstored';
  /**
   * Whether a `kept` answer depends on more than what raises the generation, because of its parameters: then it is read afresh,
   * like one that is `tagged`. Absent = never.
   */
  isFresh?(query: Static<Query>): boolean;
  /**
   * The instant up to which the answer must be complete, in PostgreSQL's format; null = none. A row becomes readable a moment
   * after its timestamp. Throws a Rejection for a bad range.
   */
  wholeUpTo?(query: Static<Query>): string | null;
  /**
   * Reads the answer with one statement, which is one snapshot and one round trip. Throws a Rejection for an error of the client.
   */
  answer(read: Read, request: EndpointRequest<Query>): Promise<{ body: Static<Response>; link?: string }>;
  /** The same as JSON, byte for byte as the answer's body is written. Absent = the body is written by its schema. */
  write?(read: Read, request: EndpointRequest<Query>): Promise<{ json: string; link?: string }>;
}

/** Derives the types of an endpoint's handler from its schemas. */
export function endpoint<Query extends TObject, Response extends TSchema>(
  definition: Endpoint<Query, Response>,
): Endpoint<Query, Response> {
  return definition;
}

/** An endpoint that writes its answer itself. Who needs the answer as an object gets it parsed. */
export function writtenEndpoint<Query extends TObject, Response extends TSchema>(
  definition: Omit<Endpoint<Query, Response>, 'answer'> & Required<Pick<Endpoint<Query, Response>, 'write'>>,
): Endpoint<Query, Response> {
  return {
    ...definition,
    async answer(read, request) {
      const { json, ...link } = await definition.write(read, request);
      return { body: JSON.parse(json), ...link };
    },
  };
}
