import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import pg from 'pg';
import {
  requireServerSignature,
  SCRAM_ITERATIONS,
  UNPROVED,
} from '../../../platform/unsafe/server-signature.ts';
import { startInBytes } from '../../../platform/unsafe/startup-encoding.ts';
import {
  answerWithin,
  type Deadline,
  guard,
  HashingRefused,
  isVerifiedToken,
  KEEP_ALIVE_MS,
  LoginRefused,
  PasswordRefused,
  type Route,
  type Target,
} from '../session.ts';
import { tlsOptions } from '../tls-options.ts';

/** A client that is logged in. */
export interface OpenClient {
  client: pg.Client & { processID?: number };
  /** As {@link import('../session.ts').Session} has it. */
  tls: string | null;
  /** It is the admin console of PgBouncer. A database behind PgBouncer is not. */
  isConsole: boolean;
  /** As {@link import('../session.ts').Session} has it. */
  isLost(): boolean;
  /** Waits for an answer of the server, for as long as the limits allow. */
  answerTo: ReturnType<typeof answerWithin>;
  close(): Promise<void>;
}

/**
 * Logs in to `database` of a target over the route, in PostgreSQL's protocol. Destroys the stream when `connecting` aborts before the login is
 * done, or `signal` at any time. Throws the error, with the server's SQLSTATE as `code` if it answered.
 */
export async function openClient(
  target: Target,
  database: string,
  { stream, host, port, meter, limits, inBytes }: Route,
  { connecting, signal }: Deadline,
): Promise<OpenClient> {
  const client: pg.Client & { processID?: number } = new pg.Client({
    host,
    port,
    database,
    user: target.username,
    // A function: without a password, pg would look in the environment and in ~/.pgpass.
    password: () => target.password ?? '',
    ssl: tlsOptions(target) ?? false,
    application_name: 'dbvitals',
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    stream: () => stream,
  });
  let lost = false;
  client.on('error', () => {
    lost = true; // the pending call throws it
  });
  const { connection } = client;
  guard(stream, meter, limits.runBytes);
  // With TLS, the bytes of a socket are counted here. Those of a tunnel are already counted.
  const counter = stream instanceof Socket ? meter : null;
  connection.on('sslconnect', () => guard(connection.stream, counter, limits.runBytes));
  refuseWeakLogins(client, target);
  if (inBytes) startInBytes(client);
  let isConsole = false;
  connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
    if (parameterName === 'server_version') isConsole = parameterValue.endsWith('/bouncer');
  });

  const destroy = (reason: Error) => {
    connection.stream.destroy(reason);
    stream.destroy();
  };
  await connectUnless(AbortSignal.any([connecting, signal]), client, destroy);

  const stop = () => destroy(signal.reason);
  signal.addEventListener('abort', stop);
  const isLost = () => lost;
  const patience = { answerMs: limits.answerMs, signal, isLost, destroy };
  return {
    client,
    tls: connection.stream instanceof TLSSocket ? connection.stream.getProtocol() : null,
    isConsole,
    isLost,
    answerTo: answerWithin(patience),
    async close() {
      signal.removeEventListener('abort', stop);
      const timer = setTimeout(() => destroy(new Error('not closed')), 1_000);
      await client.end().catch(() => {});
      clearTimeout(timer);
      stream.destroy();
    },
  };
}

/** Ends a login that would give away the password, or make it costly. */
function refuseWeakLogins(client: pg.Client, target: Target): void {
  const { connection } = client;
  // These listeners run before pg's own, which would answer.
  if (!target.passwordExposable) {
    // With verify-full, nothing but the request for TLS is sent before the certificate is verified.
    if (!isVerifiedToken(target)) connection.on('authenticationCleartextPassword', refusePassword);
    connection.on('authenticationMD5Password', refusePassword);
  }
  connection.on('authenticationSASLContinue', refuseHashing);
  requireServerSignature(client, refuseUnproved);
}

/** Connects, unless the signal aborts before. Throws its reason then, else the error of the attempt. */
async function connectUnless(
  whileConnecting: AbortSignal,
  client: pg.Client,
  destroy: (reason: Error) => void,
): Promise<void> {
  const giveUp = () => destroy(whileConnecting.reason);
  whileConnecting.addEventListener('abort', giveUp);
  try {
    whileConnecting.throwIfAborted();
    await client.connect();
  } catch (error) {
    destroy(new Error('not connected'));
    throw whileConnecting.aborted ? whileConnecting.reason : error;
  } finally {
    whileConnecting.removeEventListener('abort', giveUp);
  }
}

function refusePassword(): never {
  throw new PasswordRefused(
    'the server asks for the password in clear text or as MD5',
    "Let the server ask for SCRAM: set password_encryption = 'scram-sha-256', set the password of the login again, and use scram-sha-256 in pg_hba.conf.",
  );
}

function refuseUnproved(): never {
  throw new LoginRefused(
    UNPROVED,
    "Check that the address is your server's and that nothing answers in its place. Use the TLS mode verify-full.",
  );
}

function refuseHashing({ data }: { data: string }): void {
  const iterations = /(?:^|,)i=(\d+)/.exec(data)?.[1] ?? '0';
  if (Number(iterations) > SCRAM_ITERATIONS)
    throw new HashingRefused(
      `the server asks for more than ${SCRAM_ITERATIONS} hashing iterations (SCRAM)`,
      `Set scram_iterations to at most ${SCRAM_ITERATIONS} on the server, and set the password of the login again. If you did not raise it, check that the address is your server's.`,
    );
}
