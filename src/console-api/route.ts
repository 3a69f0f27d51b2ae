import type { Readable } from 'node:stream';
import type { FastifyReply, HTTPMethods } from 'fastify';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Actor } from '../accounts/members/actor.ts';
import type { IdentityProvider } from '../accounts/sign-in/identity-provider.ts';
import type { Caller } from '../accounts/sign-in/sign-in-request.ts';
import type { ChangeAccount } from '../activity/record-entry.ts';
import type { AccountVerified } from '../activity/seals/verify-account.ts';
import type { RequestLog } from '../api/request/request-log.ts';
import type { TokenCommands } from '../config/token-commands.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import type { Static, TObject, TSchema } from '../platform/schema/schema.ts';
import type { ChangeInTurn, ConsoleStore, ConsoleStores } from '../store/directory/console-stores.ts';
import type { Read } from '../store/read.ts';
import type { Permission } from '../vocabulary/role-permissions.ts';

/** The dependencies of the console. */
export interface ConsoleParts {
  log: Logger;
  /** Writes the lines about answers. */
  requestLog: RequestLog;
  /** The writer's role on the control store, for what belongs to no account; a statement may take 10 s. */
  control: pg.Pool;
  /** The console's own role on the control store, which only reads; pipelining, the same. */
  controlReader: pg.Pool;
  /** The stores of accounts, with such pools. */
  stores: ConsoleStores;
  /** Runs a change of an account at its turn, for who is not signed in to it. Throws 429. */
  inTurn: ChangeInTurn;
  /** Verifies the newest seal of an account's log, outside of this thread. */
  verify: (accountId: number) => Promise<AccountVerified>;
  /** The keys of DBVITALS_SECRET_KEY. */
  secret: SecretKeys;
  allowPrivateTargets: boolean;
  /** The operator's commands that print tokens. */
  tokenCommands: TokenCommands;
  /** DBVITALS_ALLOW_PRIVATE_DESTINATIONS: whether notifications may be sent to private addresses. */
  allowPrivateDestinations: boolean;
  /** Whether the service has an SMTP server. */
  hasMail: boolean;
  /** Whether members may add Unix sockets, to which the service logs in as its own user. */
  allowConsoleSockets: boolean;
  /** The path of the service behind a proxy, such as `/dbvitals`; empty = the root. */
  basePath: string;
  /** DBVITALS_PUBLIC_URL: an origin; null = not set. */
  publicUrl: string | null;
  /** The only origin where passkeys work. */
  passkeyOrigin: () => string;
  /** The single sign-on provider; null = none. */
  singleSignOn: IdentityProvider | null;
  /** Called for every answer, with the request's method and route, the status, and the duration in seconds. */
  measure: (method: string, route: string, status: number, seconds: number) => void;
  /** Aborted when the service stops, to end streams. */
  closing: AbortSignal;
}

/** A streamed body; it must end when `closing` is aborted. */
export interface Streamed {
  /** Such as `text/event-stream`. */
  type: string;
  /** The name of the downloaded file; null = shown inline. */
  filename: string | null;
  stream: Readable;
}

/** A validated request to a route. */
export interface ConsoleRequest<Query extends TObject = TObject, Body extends TObject = TObject> {
  parts: ConsoleParts;
  caller: Caller;
  /** `:id` of the path, a positive integer; 0 when the path has none. Anything else was answered 404. */
  id: number;
  /** Other path parameters, unchecked. */
  params: Readonly<Record<string, string>>;
  query: Static<Query>;
  body: Static<Body>;
  /** For response headers of the route. */
  reply: FastifyReply;
}

/** A {@link ConsoleRequest} of a signed-in member. */
interface MemberRequest<Query extends TObject, Body extends TObject> extends ConsoleRequest<Query, Body> {
  actor: Actor;
  /** Reads only the session's account: as the console's database role, with row-level security, in one snapshot. */
  read<T>(work: (read: Read) => Promise<T>): Promise<T>;
  /** Reads only what belongs to the person: login, passkeys, sessions. */
  readOwn<T>(work: (read: Read) => Promise<T>): Promise<T>;
  /** Reads the person's members and accounts in every store. */
  readOwnAccounts<Row extends { account_id: number }>(statement: string, values: unknown[]): Promise<Row[]>;
  /** The pools on the account's store. */
  store: ConsoleStore;
  /** For long requests: throws 401 or 403 once the session has ended or the member has lost the route's permission. */
  requireStill(): Promise<void>;
  /**
   * Changes the account with `changeAccount`, and adds the actor to its entries. First it checks the session and the
   * member's permission again, under the lock that changes of the member take too.
   */
  change: ChangeAccount;
  /** Uses one connection of the writer's pool on the account's store, at the account's turn. Throws 429. */
  withWriter<T>(work: (writer: pg.Pool) => Promise<T>): Promise<T>;
}

/**
 * What a handler may return by its route's schema: nothing for null, which is answered 204; or the reply, if it answered
 * itself.
 */
type HandlerReply<Response> = Response extends TSchema
  ? Promise<Static<Response> | FastifyReply>
  : Response extends 'stream'
    ? Promise<Streamed>
    : Promise<void> | Promise<FastifyReply>;

type NoFields = TObject<Record<never, never>>;

interface Definition<
  Response extends TSchema | 'stream' | null,
  Query extends TObject,
  Body extends TObject,
> {
  method: HTTPMethods & ('GET' | 'POST' | 'PATCH' | 'DELETE');
  /** Below `/console/api`. */
  path: string;
  /** With `additionalProperties: true` it is not validated here. */
  query?: Query;
  /** A field's `description` is the error message for an invalid value. */
  body?: Body;
  response: Response;
  /**
   * The price in requests, from the budgets of session and account (budget.ts); default: 1. A function gets the query as it
   * was sent, before it is validated.
   */
  cost?: number | ((query: Readonly<Record<string, unknown>>) => number);
  /** Default: 200, or 204 without a body. */
  status?: 201 | 202;
}

/** A route for signed-in members. */
export interface MemberRoute<
  Response extends TSchema | 'stream' | null = TSchema | 'stream' | null,
  Query extends TObject = TObject,
  Body extends TObject = TObject,
> extends Definition<Response, Query, Body> {
  /**
   * Whether it creates or changes a credential: then the person must have confirmed their identity within the last 10
   * minutes.
   */
  recent?: true;
  /** The required permission; `member` = any active member. */
  permission: Permission | 'member';
  /** Throws a Rejection. */
  handler(asked: MemberRequest<Query, Body>): HandlerReply<Response>;
}

/** A route that needs no session. */
export interface OpenRoute<
  Response extends TSchema | 'stream' | null = TSchema | 'stream' | null,
  Query extends TObject = TObject,
  Body extends TObject = TObject,
> extends Definition<Response, Query, Body> {
  permission: 'anyone';
  /**
   * Also takes a POST without an Origin, and a form, as programs send it that unsubscribe with one click (RFC 8058). The
   * token in its path is its only credential: the session is never used.
   */
  fromMailPrograms?: true;
  handler(asked: ConsoleRequest<Query, Body>): HandlerReply<Response>;
}

/** Any route. */
export type ConsoleRoute = MemberRoute | OpenRoute;

/** Ties a route's schemas to its handler's types. */
export function consoleRoute<
  Response extends TSchema | 'stream' | null,
  Query extends TObject = NoFields,
  Body extends TObject = NoFields,
>(route: MemberRoute<Response, Query, Body>): ConsoleRoute {
  return route as unknown as MemberRoute;
}

/** {@link consoleRoute} for a route that needs no session. */
export function openRoute<
  Response extends TSchema | 'stream' | null,
  Query extends TObject = NoFields,
  Body extends TObject = NoFields,
>(route: OpenRoute<Response, Query, Body>): ConsoleRoute {
  return route as unknown as OpenRoute;
}
