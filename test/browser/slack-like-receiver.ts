import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** What a receiver answers. */
interface Reply {
  status: number;
  body: string;
}

/** An HTTP server that takes messages as Slack's incoming webhooks do. */
export interface SlackLike {
  /** The URL of a webhook, with its secret. */
  url: string;
  /** The part of the URL that nobody may see after it was stored. */
  secret: string;
  received: Received[];
  /** Overrides the answer; null = as Slack does. */
  reply: Reply | null;
  stop(): Promise<void>;
}

const SECRET = '/services/T0000000/B0000000/kept-secret-of-this-webhook';

/** Answers `ok` to a message with text or blocks, `invalid_payload` to others, and 404 `no_service` at other paths, as Slack does. */
export async function startSlackLike(): Promise<SlackLike> {
  const receiver: SlackLike = {
    url: '',
    secret: SECRET,
    received: [],
    reply: null,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { url: path = '', headers } = request;
    receiver.received.push({ path, headers, body });
    const reply = receiver.reply ?? answerOf(path, body);
    response.writeHead(reply.status, { 'content-type': 'text/html' }).end(reply.body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${SECRET}`;
  return receiver;
}

function answerOf(path: string, body: string): Reply {
  if (path !== SECRET) return { status: 404, body: 'no_service' };
  return hasText(body) ? { status: 200, body: 'ok' } : { status: 400, body: 'invalid_payload' };
}

function hasText(body: string): boolean {
  try {
    const { text: said, blocks } = JSON.parse(body) as { text?: unknown; blocks?: unknown };
    return (typeof said === 'string' && said !== '') || Array.isArray(blocks);
  } catch {
    return false;
  }
}
