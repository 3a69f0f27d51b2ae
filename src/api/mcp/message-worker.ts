import { parentPort } from 'node:worker_threads';
import { answerMessage } from './answer-message.ts';
import { toolUrl } from './mcp-tools.ts';
import type { Message, MessageAnswer, ToolResult } from './message.ts';

/** A message to answer, or the result of a request that its answer needs. */
export type ToWorker = { id: number } & ({ message: Message } | { result: ToolResult });

/** The answer to a message, the request that it needs, or why there is none. */
export type FromWorker = { id: number } & ({ url: string } | { answer: MessageAnswer } | { failed: string });

const waiting = new Map<number, (result: ToolResult) => void>();

function post(message: FromWorker): void {
  parentPort?.postMessage(message);
}

async function answer(id: number, message: Message): Promise<void> {
  const read = (operationId: string, given: Readonly<Record<string, unknown>>) =>
    new Promise<ToolResult>((resolve) => {
      waiting.set(id, resolve);
      post({ id, url: toolUrl(operationId, given) });
    });
  try {
    post({ id, answer: await answerMessage(message, read) });
  } catch (error) {
    post({ id, failed: error instanceof Error ? error.message : 'it threw no error' });
  } finally {
    waiting.delete(id);
  }
}

parentPort?.on('message', (received: ToWorker) => {
  const { id } = received;
  if ('message' in received) void answer(id, received.message);
  else waiting.get(id)?.(received.result);
});
// The SDK makes its schemas when they are first used: not within the time of somebody's request.
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
for (const [method, params] of [
  ['tools/list', {}],
  ['tools/call', { name: 'getFleet', arguments: {} }],
]) {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 0, method, params });
  await answerMessage({ headers, text }, async () => ({ failure: '' }));
}
// To no message: from now on others are answered.
post({ id: 0, answer: { status: 200, body: '' } });
