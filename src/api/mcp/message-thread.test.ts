import { expect, onTestFinished, test } from 'vitest';
import { MessageThread } from './message-thread.ts';

test('a request that fails fails its message, and the thread answers the next one', async () => {
  const thread = new MessageThread();
  onTestFinished(() => thread.close());
  const params = { name: 'getFleet', arguments: {} };
  const message = {
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    text: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  };
  const failing = thread.answer(message, () => Promise.reject(new Error('no store')));
  await expect(failing).rejects.toThrow('no store');
  expect(await thread.answer(message, async () => ({ failure: 'later' }))).toMatchObject({ status: 200 });
});
