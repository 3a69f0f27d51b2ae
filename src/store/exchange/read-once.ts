import type pg from 'pg';
import { traced } from '../../platform/telemetry/tracing.ts';
import type { Statement } from '../../platform/unsafe/pg-exchange.ts';
import { statementStep } from '../pool/trace-statements.ts';
import type { Read } from '../read.ts';
import { exchangeWith } from './exchange-queue.ts';

// Both end with the transaction. It returns no row, for nobody reads it.
const restrict = `
  select where concat(set_config('dbvitals.account_id', $1, true), set_config('transaction_read_only', 'on', true)) is null`;

const readGeneration = 'select generation from account where account_id = $1';

/**
 * `readAs` in one round trip, for `work` that reads at once: what it asks for before it awaits an answer is one exchange. A statement is
 * one snapshot, and the generation is read before it: an answer may be newer than its generation, which the gate detects, but never older.
 * Without `isKept` nobody needs the generation: it is not read, and 0 is returned. Then `work` may read again, in a new exchange.
 */
export async function readOnce<T>(
  reader: pg.Pool,
  accountId: number,
  work: (read: Read) => Promise<T>,
  isKept = true,
): Promise<{ result: T; generation: number }> {
  let generation: number | undefined;
  const values = [accountId];
  // The account is set by a statement of its own: within one, rows could be read before it is set.
  const statements: Statement[] = [
    { text: restrict, values, returnsRows: false },
    ...(isKept ? [{ text: readGeneration, values, returnsRows: true }] : []),
  ];
  const run = async (more: readonly Statement[]): Promise<unknown[][]> => {
    if (isKept && generation !== undefined) throw new Error('readOnce reads once: use readAs.');
    generation = 0;
    const results = await traced(
      () => statementStep(more[0]?.text ?? readGeneration, 'reader'),
      () => exchangeWith(reader, [...statements, ...more]),
    );
    if (isKept) {
      const [head] = (results[1] ?? []) as { generation: number }[];
      if (!head) throw new Error(`account ${accountId} can't be read`);
      ({ generation } = head);
    }
    return results.slice(statements.length);
  };
  const result = await work(gather(run));
  if (generation === undefined && isKept) await run([]);
  return { result, generation: generation ?? 0 };
}

/** Reads by `run`, which gets what is asked for before an answer is awaited. */
function gather(run: (statements: readonly Statement[]) => Promise<unknown[][]>): Read {
  let gathered: { statements: Statement[]; results: Promise<unknown[][]> } | null = null;
  const start = () => {
    const statements: Statement[] = [];
    const results = Promise.resolve().then(() => {
      gathered = null;
      return run(statements);
    });
    return { statements, results };
  };
  return async <Row>(text: string, values: unknown[]) => {
    gathered ??= start();
    const place = gathered.statements.push({ text, values, returnsRows: true }) - 1;
    return ((await gathered.results)[place] ?? []) as Row[];
  };
}
