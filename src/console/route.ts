import type { Readable } from 'node:stream';
import type { FastifyReply, HTTPMethods } from 'fastify';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Static, TObject, TSchema } from 'typebox';
import type { ChangeAccount } from '../activity/record-entry.ts';
import type { AccountVerified } from '../activity/seals/verify-account.ts';
import type { SecretKeys } from '../database/encryption.ts';
import type { Read } from '../database/read.ts';
import type { IdentityProvider } from '../sign-in/identity-provider.ts';
import type { Permission } from '../vocabulary/roles.ts';

/** What the console stands on. */
export interface ConsoleParts {
  log: Logger;
  /** The writer's role; a statement may take 10 s. */
  writer: pg.Pool;
  /** The console's own role, which only reads; pipelining, the same. */
  reader: pg.Pool;
  /** Verifies the newest seal of an account's log, outside of this thread. */
  verify: (accountId: number) => Promise<AccountVerified>;
  /** The keys of DBVITALS_SECRET_KEY. */
  secret: SecretKeys;
  allowPrivateTargets: boolean;
  /** Whether members may name a Unix socket, at which the service logs in as its own user. */
  allowConsoleSockets: boolean;
  /** Where the service stands behind a proxy, such as `/dbvitals`; empty = at the root. */
  basePath: string;
  /** DBVITALS_PUBLIC_URL: an origin; null = not set. */
  publicUrl: string | null;
  /** The only origin that passkeys work at. */
  passkeyOrigin: () => string;
  /** Whom persons may sign in by; null = there is none. */
  singleSignOn: IdentityProvider | null;
  /** Hears of every answer: method and route of the request, the status, and how long it took, in seconds. */
  measure: (method: string, route: string, status: number, seconds: number) => void;
  /** Aborted when the service stops: what streams must end then. */
  closing: AbortSignal;
}

/** Who asks, signed in or not. */
export interface Caller {
  requestId: string;
  address: string;
  /** Such as `https://dbvitals.example.com`, as the browser has it. */
  origin: string;
  /** As it may be stored; at most 500 characters. */
  userAgent: string;
  /** Of the session's cookie; a secret, and whether it is good for anything is not said. */
  sessionToken: string | null;
}

/** The member on whose behalf the session acts now. */
export interface Actor {
  sessionId: number;
  loginId: number;
  /** The login's. */
  email: string;
  accountId: number;
  memberId: number;
  name: string;
  roles: string[];
  permissions: ReadonlySet<Permission>;
  /** Whether the person proved who they are within 10 minutes. */
  isRecent: boolean;
  /** Whether the login is one of an identity provider; else it has a password, and acts in this account alone. */
  bySingleSignOn: boolean;
}

/** A body that comes bit by bit; it must end when `closing` is aborted. */
export interface Streamed {
  /** Such as `text/event-stream`. */
  type: string;
  /** Names the file that a browser saves it as; null = it is shown. */
  filename: string | null;
  stream: Readable;
}

/** A request to a route, everything of it checked. */
export interface ConsoleRequest<Query extends TObject = TObject, Body extends TObject = TObject> {
  parts: ConsoleParts;
  caller: Caller;
  /** `:id` of the path: a positive integer, or the request was answered 404; 0 where the path has none. */
  id: number;
  /** Further parts of the path, as they came. */
  params: Readonly<Record<string, string>>;
  query: Static<Query>;
  body: Static<Body>;
  /** For headers of the route's own. */
  reply: FastifyReply;
}

/** {@link ConsoleRequest} by somebody who is signed in. */
interface MemberRequest<Query extends TObject, Body extends TObject> extends ConsoleRequest<Query, Body> {
  actor: Actor;
  /** Reads the session's account and nothing else: as the console's role, behind row-level security, in one snapshot. */
  read<T>(work: (read: Read) => Promise<T>): Promise<T>;
  /** The same for what belongs to the person and not to an account: login, passkeys, sessions, and which accounts there are. */
  readOwn<T>(work: (read: Read) => Promise<T>): Promise<T>;
  /** For what goes on: throws 401 or 403 once the session has ended, or the member lost the route's permission. */
  requireStill(): Promise<void>;
  /**
   * Changes the account: `changeAccount`, whose entries also tell who did it. First it looks whether the session still
   * stands and the member still has the route's permission, under the lock that a change of the member takes too.
   */
  change: ChangeAccount;
}

/** What a route's schema lets its handler give: nothing for null, which is answered 204; a reply where it answered by itself. */
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
  /** With `additionalProperties: true` nothing of it is looked at here. */
  query?: Query;
  /** The `description` of a field is the sentence that somebody who gave a wrong value is told. */
  body?: Body;
  response: Response;
  /** Of the session's and the account's budget (budget.ts), in usual requests; 1 where not given. */
  cost?: number;
  /** 200 where not given, 204 where there is no body. */
  status?: 201 | 202;
}

/** A route for members. */
export interface MemberRoute<
  Response extends TSchema | 'stream' | null = TSchema | 'stream' | null,
  Query extends TObject = TObject,
  Body extends TObject = TObject,
> extends Definition<Response, Query, Body> {
  /** Whether it makes or changes a credential: then the person must have proved who they are within 10 minutes. */
  recent?: true;
  /** What the member's roles must allow; `member` = any active member. */
  permission: Permission | 'member';
  /** Throws a ConsoleError for what it can't do. */
  handler(asked: MemberRequest<Query, Body>): HandlerReply<Response>;
}

/** A route for those who are not signed in. */
export interface OpenRoute<
  Response extends TSchema | 'stream' | null = TSchema | 'stream' | null,
  Query extends TObject = TObject,
  Body extends TObject = TObject,
> extends Definition<Response, Query, Body> {
  permission: 'anyone';
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

/** {@link consoleRoute} for those who are not signed in. */
export function openRoute<
  Response extends TSchema | 'stream' | null,
  Query extends TObject = NoFields,
  Body extends TObject = NoFields,
>(route: OpenRoute<Response, Query, Body>): ConsoleRoute {
  return route as unknown as OpenRoute;
}
