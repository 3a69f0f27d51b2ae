import { LRUCache } from 'lru-cache';
import type { Answer } from '../../http/answer.ts';
import type { ApiRequest } from '../../http/api-request.ts';
import type { ParsedQuery } from '../../http/api-url.ts';
import { pagePath, plainAddress, recordable } from '../../http/edge/edge.ts';
import type { LogTemplate } from '../gate/key-batch.ts';

// The rest of a longer one adds nothing, and rows of the log stay small.
const LONGEST_USER_AGENT = 1_000;

// Dashboards and collectors repeat the same requests. A longer one is rarely repeated and not worth its memory.
const KEPT_TEMPLATES = 2_000;
const LONGEST_KEPT = 1_000;

const templates = new LRUCache<string, LogTemplate>({ max: KEPT_TEMPLATES });

/** What the log will record about a request with this answer. Equal requests share one object. */
export function makeTemplate(request: ApiRequest, answer: Answer, status: number): LogTemplate {
  const { method, url, ip, userAgent } = request;
  const alike = `${status} ${answer.errorCode} ${method} ${ip} ${url}${userAgent === undefined ? '' : ` ${userAgent}`}`;
  const known = templates.get(alike);
  if (known) return known;
  const template = {
    status,
    errorCode: answer.errorCode,
    method,
    pagePath: pagePath(url),
    query: recordedQuery(request.query),
    sourceIp: plainAddress(ip),
    userAgent: userAgent === undefined ? null : recordable(userAgent.slice(0, LONGEST_USER_AGENT)),
  };
  if (alike.length <= LONGEST_KEPT) templates.set(alike, template);
  return template;
}

function recordedQuery(query: ParsedQuery): string | null {
  const parameters = Object.entries(query);
  if (parameters.length === 0) return null;
  const recorded = parameters.map(([name, value]) => [
    recordable(name),
    recordable([value].flat().join(',')),
  ]);
  return JSON.stringify(Object.fromEntries(recorded));
}
