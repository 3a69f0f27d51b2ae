import pg from 'pg';

// Classes of SQLSTATE that depend on the server's state, not on our statement: connection, login, read-only, rollback, database,
// resources, locks, intervention, system (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const STATE_OF_SERVER = /^(?:08|25|28|3D|40|53|55|57|58)/;

// Errors that the driver throws without a code.
const DRIVER =
  /^(?:timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered|received invalid response|There was an error establishing an SSL connection)/;

/** The store can't be used now. If a batch of the gate failed, it is unknown whether it was committed, and the cause says why. */
export class StoreUnavailable extends Error {}

/** Whether the error means that the store is unreachable, hangs, has no free space, or rejects our connection. */
export function isStoreFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isStoreFailure); // a name with several addresses
  if (error instanceof StoreUnavailable || DRIVER.test(error.message)) return true;
  if (error instanceof pg.DatabaseError) return STATE_OF_SERVER.test(error.code ?? '');
  // Errors of a socket are system errors.
  return ('syscall' in error && 'errno' in error) || isStoreFailure(error.cause);
}

/**
 * An error for the log: its message and those of its causes, plus the stack at debug level or if the store is not the cause.
 * Nothing else, because PostgreSQL's details contain values of rows.
 */
export function errorFields(
  error: unknown,
  log: { isLevelEnabled(level: string): boolean },
): { reason: string; stack?: string } {
  const chain: Error[] = [];
  for (let each = error; each instanceof Error && chain.length < 5; each = each.cause) chain.push(each);
  const reason = escaped(chain.map(messageOf).join(': ') || String(error));
  if (isStoreFailure(error) && !log.isLevelEnabled('debug')) return { reason };
  return { reason, stack: escaped(chain.map(({ stack }) => stack).join('\ncaused by ')) };
}

function messageOf(error: Error): string {
  return error instanceof AggregateError ? error.errors.map(String).join(', ') : error.message;
}

// JSON does not escape these, although terminals and line readers act on them.
function escaped(text: string): string {
  return text.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
