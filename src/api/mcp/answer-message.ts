import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createMcpServer, type ReadTool } from './mcp-server.ts';
import type { Message, MessageAnswer } from './message.ts';

/**
 * Answers a message in the revision of the protocol that it names. Each message gets a server of its own and nothing is kept:
 * there are no sessions and no streams, so any process of the service can answer the next message.
 */
export async function answerMessage({ headers, text }: Message, read: ReadTool): Promise<MessageAnswer> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { problem: 'not_json' };
  }
  // It would be several requests that count as one.
  if (Array.isArray(body)) return { problem: 'batch' };
  const request = new Request('http://localhost/mcp', { method: 'POST', headers: acceptBoth(headers) });
  const isLegacy = await isLegacyRequest(request, body);
  const response = await (isLegacy ? answerLegacy : answerCurrent)(request, body, read);
  return { status: response.status, body: await response.text() };
}

/**
 * The SDK answers 406 unless a client accepts JSON and streams. Clients that accept JSON alone, anything, or do not say get JSON, which is all
 * that is sent here.
 */
function acceptBoth(headers: Message['headers']): Message['headers'] {
  const { accept = '*/*' } = headers;
  const takesJson = /(?:application\/(?:json|\*)|\*\/\*)/i.test(accept);
  return takesJson ? { ...headers, accept: 'application/json, text/event-stream' } : headers;
}

/** Revision 2026-07-28. Its subscriptions are refused, because no list of the server changes. */
function answerCurrent(request: Request, parsedBody: unknown, read: ReadTool): Promise<Response> {
  const handler = createMcpHandler(() => createMcpServer(read), { legacy: 'reject', maxSubscriptions: 0 });
  return handler.fetch(request, { parsedBody });
}

/** Revisions up to 2025-11-25, which begin with `initialize`. The SDK's own fallback would answer with a stream. */
async function answerLegacy(request: Request, parsedBody: unknown, read: ReadTool): Promise<Response> {
  const server = createMcpServer(read);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
}
