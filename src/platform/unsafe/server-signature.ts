import type pg from 'pg';

/** What a server did that claims to accept a SCRAM login without proving that it knows the password. */
export const UNPROVED = 'the server ended the login without its signature (SCRAM)';

/** PostgreSQL's own default is 4,096; a million takes a second of one core. */
export const SCRAM_ITERATIONS = 1_000_000;

/**
 * Calls `refuse` when a server accepts a SCRAM login without its signature, which shows that it knows the password: then
 * another server may have answered. pg verifies a signature that is sent, and asks for none. Call it before the client
 * connects. The events are not documented; without them every SCRAM login would pass, so a test provokes each case.
 */
export function requireServerSignature(client: pg.Client, refuse: () => void): void {
  // pg's own limit would refuse servers that use 100,001 iterations or more.
  Object.assign(client, { scramMaxIterations: SCRAM_ITERATIONS });
  const { connection } = client;
  let isMissing = false;
  connection.on('authenticationSASL', () => {
    isMissing = true;
  });
  connection.on('authenticationSASLFinal', () => {
    isMissing = false;
  });
  // A server may also leave out its acceptance.
  for (const event of ['authenticationOk', 'readyForQuery'])
    connection.on(event, () => {
      if (isMissing) refuse();
    });
}
