import { type Answer, errorAnswer, messageAnswer } from '../http/answer.ts';
import type { ApiRequest } from '../http/api-request.ts';
import type { ApiUrl } from '../http/api-url.ts';
import { LONGEST_URL } from '../http/edge/edge.ts';
import * as errors from '../http/errors.ts';
import { version } from '../platform/package-root.ts';
import type { Rejection } from '../platform/rejection.ts';
import { hasAccess } from '../vocabulary/plans.ts';
import type { Message, ToolResult } from './mcp/message.ts';
import type { MessageThread } from './mcp/message-thread.ts';
import { failureText } from './mcp/tool-failure.ts';
import type { Prepared } from './prepare-answer.ts';

const PRODUCT = `dbvitals-mcp/${version}`;

/** The headers that the protocol uses. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

const PROBLEMS = { not_json: errors.noMessage, batch: errors.batch };

/** What messages are answered with. */
export interface MessageParts {
  readonly thread: MessageThread;
  /** Parses a routed URL of the API. */
  readonly parseUrl: (routed: string) => ApiUrl;
}

/**
 * Prepares the answer to a message of an assistant. A tool call stands for a GET request: `prepare` prepares that one, and the
 * gate judges, counts and records it in place of the message. Every other message counts as itself. Throws what `prepare` throws.
 */
export async function prepareMessage(
  request: ApiRequest,
  { plan }: { plan: string },
  { thread, parseUrl }: MessageParts,
  prepare: (read: ApiRequest) => Prepared | Promise<Prepared>,
): Promise<Prepared> {
  if (!hasAccess(plan)) return refused(errors.tierInsufficient);
  if (request.method !== 'POST') return refused(errors.postOnly);
  if (!request.content) return refused(errors.bodyTooLarge);
  const message = { headers: readHeaders(request), text: request.content.toString() };
  const call: { read?: ApiRequest; prepared?: Prepared; failure?: { error: unknown } } = {};
  const answer = await answerBy(thread, message, async (url) => {
    if (url.length > LONGEST_URL) return toResult(errorAnswer(errors.uriTooLong), request.id);
    call.read = request.toRead(parseUrl(url), PRODUCT);
    try {
      call.prepared = await prepare(call.read);
      return toResult(call.prepared.answer, request.id);
    } catch (error) {
      // The protocol would show its message to the caller, and the request would not fail as others do.
      call.failure = { error };
      return { failure: '' };
    }
  });
  if (call.failure) throw call.failure.error;
  if (!call.read || !call.prepared) return { answer, generation: null, source: 'none' };
  return {
    ...call.prepared,
    answer,
    entry: { request: call.read, answer: call.prepared.answer },
    whenLimited: (seconds) =>
      answerBy(thread, message, async () => toResult(errorAnswer(errors.rateLimited, seconds), request.id)),
  };
}

async function answerBy(
  thread: MessageThread,
  message: Message,
  read: (url: string) => Promise<ToolResult>,
): Promise<Answer> {
  const answer = await thread.answer(message, read);
  if ('problem' in answer) return errorAnswer(PROBLEMS[answer.problem]);
  return messageAnswer(answer.status, answer.body);
}

function refused(error: Rejection): Prepared {
  return { answer: errorAnswer(error), generation: null, source: 'none' };
}

function readHeaders({ headers }: ApiRequest): Record<string, string> {
  return Object.fromEntries(
    HEADERS.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, String(value)]];
    }),
  );
}

function toResult({ status, body }: Answer, requestId: string): ToolResult {
  const text = body.toString();
  if (status === 200) return { answer: text };
  const { code, message, parameter = null, retry_after: retryAfter = null } = JSON.parse(text).error;
  return { failure: failureText({ code, message, parameter, requestId, status, retryAfter }) };
}
