import type { KeyNames } from './key-names.ts';
import { LINE_SEPARATOR, VALUE_SEPARATOR } from './positions.sql.ts';
import { compact, isoTime } from './write-entry.ts';

/** A page of the log as its statement returns it. */
export interface PageLines {
  total: number;
  ends_open: boolean;
  /** Of the account. */
  generation: number;
  newest: string;
  /** Of the entries; null = a text contains what separates them. */
  lines: string[] | null;
}

/** What some requests of a page have in common: all but id, time, status, request id, key and address. */
interface Template {
  beforeStatus: string;
  afterStatus: string;
  afterAddress: string;
}

// The number of values of the line of an entry, and of those of a request that a template is made of.
const OF_ENTRY = 6;
const OF_TEMPLATE = 7;

/** Takes a page apart: its head, and a line for each entry. */
export function readLines(page: string): PageLines {
  const [head = '', ...lines] = page.split(LINE_SEPARATOR);
  const [total, endsOpen, generation, number, newest = ''] = head.split(VALUE_SEPARATOR);
  return {
    total: Number(total),
    ends_open: endsOpen === 't',
    generation: Number(generation),
    newest,
    lines: lines.length === Number(number) ? lines : null,
  };
}

/**
 * Writes the entries of a page's lines as JSON, in the order of their ids. Keys whose name is unknown are added to `unknown`: then
 * the entries are incomplete. Returns null if a line is ambiguous: a text contains the separator, or a value is missing that
 * requests have. Then the page must be read column by column.
 */
export function writeLines(
  lines: readonly string[],
  order: 'asc' | 'desc',
  names: KeyNames,
  unknown: Set<string>,
): string[] | null {
  const entries: [id: number, json: string][] = [];
  const page = { names, unknown, templates: new Map<string, Template | null>(), known: new Map() };
  for (const line of lines) {
    const written = line.startsWith('request') ? writeRequest(line, page) : writeOther(line, page.known);
    if (written === null) return null;
    entries.push(written);
  }
  entries.sort(order === 'asc' ? ([a], [b]) => a - b : ([a], [b]) => b - a);
  return entries.map(([, json]) => json);
}

function writeOther(line: string, known: Map<string, string>): [number, string] | null {
  const values = line.split(VALUE_SEPARATOR);
  const [, id = '', time = '', properties = '', actionType, path] = values;
  if (values.length !== OF_ENTRY) return null;
  const json = `{"id":${id},"action_type":${JSON.stringify(actionType)},"page_path":${JSON.stringify(path)},"properties":${compact(properties, known)},"occurred_at":"${isoTime(time)}"}`;
  return [Number(id), json];
}

function writeRequest(
  line: string,
  page: {
    names: KeyNames;
    unknown: Set<string>;
    templates: Map<string, Template | null>;
    known: Map<string, string>;
  },
): [number, string] | null {
  let from = 'request'.length + 1;
  const next = () => {
    const to = line.indexOf(VALUE_SEPARATOR, from);
    const value = line.slice(from, to);
    from = to + 1;
    return value;
  };
  const id = next();
  const time = next();
  const status = next();
  const key = next();
  const requestId = next();
  const address = next();
  const rest = line.slice(from);
  let template = page.templates.get(rest);
  if (template === undefined) {
    template = makeTemplate(rest, page.known);
    page.templates.set(rest, template);
  }
  if (
    template === null ||
    status === '-1' ||
    key === '-1' ||
    address === '-' ||
    requestId.startsWith('00000000-0000-0000-0000-')
  )
    return null;
  const name = page.names.get(key);
  if (name === undefined) page.unknown.add(key);
  const json = `{"id":${id}${template.beforeStatus}${status}${template.afterStatus}${requestId}","api_key_id":${key},"api_key_name":${name},"source_ip":"${address}"${template.afterAddress}${isoTime(time)}"}`;
  return [Number(id), json];
}

function makeTemplate(rest: string, known: Map<string, string>): Template | null {
  const values = rest.split(VALUE_SEPARATOR);
  const [texts, query = '', actionType, path, method = '', errorCode = '', userAgent = ''] = values;
  if (values.length !== OF_TEMPLATE) return null;
  // An empty text may be a missing one: all empty ones are missing if the others are as many as there should be.
  const filled = [method, errorCode, userAgent].filter((value) => value !== '');
  if (filled.length !== Number(texts)) return null;
  const text = (value: string) => (value === '' ? 'null' : JSON.stringify(value));
  return {
    beforeStatus: `,"action_type":${JSON.stringify(actionType)},"page_path":${JSON.stringify(path)},"properties":{"method":${text(method)},"status":`,
    afterStatus: `,"error_code":${text(errorCode)},"query":${query === 'null' ? '{}' : compact(query, known)},"request_id":"`,
    afterAddress: `,"user_agent":${text(userAgent)}},"occurred_at":"`,
  };
}
