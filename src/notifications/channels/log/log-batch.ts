import type { LogBatch, MadeMessage, MakeBatch, MessageEvent } from '../channel.ts';

/** Forms the message of a test as a batch that covers nothing. */
export function testMessage(makeBatch: MakeBatch) {
  return (events: readonly MessageEvent[]): MadeMessage => {
    const lines = events.map(({ body, occurred_at }) => ({
      id: 0,
      at: occurred_at.toISOString(),
      actionType: 'test',
      severity: 'info' as const,
      json: body,
    }));
    return makeBatch({ accountId: 0, firstId: 0, lastId: 0, epoch: 'test', seal: null, lines }, {});
  };
}

/** The headers that say which entries a request has. */
export function batchHeaders(batch: LogBatch | undefined): Record<string, string> {
  if (batch === undefined) return {};
  const { accountId, firstId, lastId, epoch, seal } = batch;
  return {
    'dbvitals-account': String(accountId),
    'dbvitals-first-id': String(firstId),
    'dbvitals-last-id': String(lastId),
    'dbvitals-epoch': epoch,
    ...(seal !== null && { 'dbvitals-seal': seal }),
  };
}
