import type { FastifyReply } from 'fastify';
import type pg from 'pg';
import type { SecretKeys } from '../../platform/encryption.ts';
import type { ChangeInTurn, ConsoleStores } from '../../store/directory/console-stores.ts';

/** The client of a request, signed in or not. */
export interface Caller {
  requestId: string;
  address: string;
  /** Such as `https://dbvitals.example.com`, as the browser sees it. */
  origin: string;
  /** Cleaned for storage; at most 500 characters. */
  userAgent: string;
  /** From the session cookie; secret, and not verified yet. */
  sessionToken: string | null;
}

/** The dependencies of signing in. */
export interface SignInParts {
  /** Logs a failure that anyone can cause, as often as they like: of each message, the first ones of a second. */
  requestLog: { failed(fields: object, message: string): void };
  /** The writer's role on the control store. */
  control: pg.Pool;
  /** The console's own role on the control store, which only reads. */
  controlReader: pg.Pool;
  /** The stores of accounts. */
  stores: ConsoleStores;
  /** Runs a change of an account, which may wait for its log, at the account's turn. Throws 429. */
  inTurn: ChangeInTurn;
  /** The keys of DBVITALS_SECRET_KEY. */
  secret: SecretKeys;
  /** The path of the service behind a proxy, such as `/dbvitals`; empty = the root. */
  basePath: string;
  /** The only origin where passkeys work. */
  passkeyOrigin: () => string;
}

/** A request of a person who signs in or is signed in. */
export interface SignInRequest {
  parts: SignInParts;
  caller: Caller;
  /** For the cookies. */
  reply: FastifyReply;
}
