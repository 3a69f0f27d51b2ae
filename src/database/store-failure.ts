import pg from 'pg';

// Classes of SQLSTATE that tell of the server's state and not of our statement: connection, login, read-only, rollback, database,
// resources, locks, intervention, system (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const STATE_OF_SERVER = /^(?:08|25|28|3D|40|53|55|57|58)/;

// What the driver throws without a code.
const DRIVER =
  /^(?:timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered)/;

/** The gate did not hear of a batch, and whether it was committed is unknown; the cause says why. */
export class StoreUnavailable extends Error {}

/** Whether an error comes of a store that is away, hangs, has no room, or refuses us. */
export function isStoreFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isStoreFailure); // a name with several addresses
  if (error instanceof StoreUnavailable || DRIVER.test(error.message)) return true;
  if (error instanceof pg.DatabaseError) return STATE_OF_SERVER.test(error.code ?? '');
  // A socket's errors are the system's.
  return ('syscall' in error && 'errno' in error) || isStoreFailure(error.cause);
}

/**
 * An error for the log: its words with those of its causes, and the stack at debug or where the store is not the cause. Only
 * that: PostgreSQL's details hold values of rows.
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

// JSON leaves these as they are, although terminals and readers of lines act on them.
function escaped(text: string): string {
  return text.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
