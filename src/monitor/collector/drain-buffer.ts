import type { Logger } from 'pino';
import type { ResultBuffer } from './buffer.ts';
import { callService, ServiceRefused } from './call-service.ts';
import type { CollectorIdentity } from './collector-key.ts';

/** Statuses that name a request that would be refused again: its form, its size. */
const REFUSED_FOR_GOOD = [400, 413];

/**
 * Delivers what waits in the buffer, in order, and forgets it when the service has it. Ends when nothing waits, or the service does not take
 * more now. A delivery that is refused is repeated one by one, and what is refused alone is dropped. Never throws.
 */
export async function drainBuffer(
  buffer: ResultBuffer,
  identity: CollectorIdentity,
  log: Pick<Logger, 'info' | 'error'>,
  until: AbortSignal,
): Promise<void> {
  let stored = 0;
  let most: number | undefined;
  while (!until.aborted) {
    const batch = buffer.next(most);
    if (batch.length === 0) break;
    try {
      const answer = await callService(
        identity,
        'past',
        { results: batch.map(({ result }) => result) },
        until,
      );
      stored += Number((answer as { stored?: unknown }).stored) || 0;
    } catch (error) {
      if (!(error instanceof ServiceRefused) || !REFUSED_FOR_GOOD.includes(error.status)) break;
      if (batch.length > 1) {
        most = 1;
        continue;
      }
      const [refused] = batch;
      log.error(
        { connection: refused?.result.connection, reason: error.message },
        'the service refuses a kept health check, which is dropped',
      );
      most = undefined;
    }
    buffer.remove(batch);
  }
  if (stored > 0) log.info({ results: stored }, 'health checks delivered that were measured before');
}
