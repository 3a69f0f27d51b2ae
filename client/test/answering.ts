import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';

/** A server that answers as told, until the test ends; it keeps what it was asked. */
export async function answering(
  answer: RequestListener,
): Promise<{ origin: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { origin: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`, asked };
}
