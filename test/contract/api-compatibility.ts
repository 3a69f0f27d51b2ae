import { type Json, resolver } from './openapi-assertions.ts';

// What callers send may be allowed more, never less; what they get may hold more fields, but no field other values.
type Direction = 'request' | 'response';

/**
 * What `after` takes from those who rely on `before`, both OpenAPI documents: a line each, empty when it only adds.
 * The payload of an event, with its example, may not change at all. Its description may.
 */
export function lostPromises(before: Json, after: Json): string[] {
  const old = resolver(before)<Json>({ ...before, components: undefined });
  const now = resolver(after)<Json>({ ...after, components: undefined });
  const found: string[] = [];
  each(old['paths'], now['paths'], 'paths', found, (was, is, at) =>
    each(was, is, at, found, (one, other, where) => compareOperation(one, other, where, found)),
  );
  each(old['webhooks'], now['webhooks'], 'webhooks', found, (was, is, at) =>
    same(payloadOf(was), payloadOf(is), at, found),
  );
  same(old['servers'], now['servers'], 'servers', found);
  same(old['security'], now['security'], 'security', found);
  const schemes = (document: Json) => (document['components'] as Json)['securitySchemes'];
  each(schemes(before), schemes(after), 'securitySchemes', found, (was, is, at) => same(was, is, at, found));
  return found;
}

/** What a receiver gets of an event: the schema without its own description, and the example. */
function payloadOf(webhook: Json): unknown {
  const { content } = (webhook['post'] as Json)['requestBody'] as { content: Record<string, Json> };
  return Object.entries(content).map(([type, { schema, example }]) => {
    const { description: _, ...payload } = schema as Json;
    return [type, payload, example];
  });
}

function compareOperation(was: Json, is: Json, at: string, found: string[]): void {
  same(was['operationId'], is['operationId'], `${at}.operationId`, found);
  same(was['security'], is['security'], `${at}.security`, found);
  const [old, now] = [byName(was['parameters']), byName(is['parameters'])];
  for (const [name, parameter] of Object.entries(now)) {
    if (parameter['required'] && !old[name]?.['required']) found.push(`${at}: ${name} is now required`);
  }
  each(old, now, `${at}.parameters`, found, (one, other, where) =>
    compareSchema(one['schema'] as Json, other['schema'] as Json, where, 'request', found),
  );
  each(was['responses'], is['responses'], `${at}.responses`, found, (one, other, where) => {
    each(one['headers'], other['headers'], `${where}.headers`, found, (header, later, place) =>
      compareSchema(header['schema'] as Json, later['schema'] as Json, place, 'response', found),
    );
    each(one['content'], other['content'], `${where}.content`, found, (content, later, place) =>
      compareSchema(content['schema'] as Json, later['schema'] as Json, place, 'response', found),
    );
  });
}

function byName(parameters: unknown): Record<string, Json> {
  return Object.fromEntries((parameters as Json[]).map((one) => [`${one['name']} in ${one['in']}`, one]));
}

const FIXED = ['type', 'format', 'pattern', 'const', 'default', 'additionalProperties', 'minLength'];

function compareSchema(was: Json, is: Json, at: string, direction: Direction, found: string[]): void {
  for (const keyword of FIXED) same(was[keyword], is[keyword], `${at}.${keyword}`, found);
  compareBounds(was, is, at, direction, found);
  compareValues(was, is, at, direction, found);
  each(was['properties'], is['properties'], at, found, (one, other, where) =>
    compareSchema(one, other, where, direction, found),
  );
  const required = (is['required'] ?? []) as string[];
  for (const name of (was['required'] ?? []) as string[]) {
    if (!required.includes(name)) found.push(`${at}.${name}: no longer always there`);
  }
  if ('items' in was || 'items' in is) {
    compareSchema((was['items'] ?? {}) as Json, (is['items'] ?? {}) as Json, `${at}[]`, direction, found);
  }
  same(was['anyOf'], is['anyOf'], `${at}.anyOf`, found);
}

function compareBounds(was: Json, is: Json, at: string, direction: Direction, found: string[]): void {
  const narrower = direction === 'request' ? 1 : -1;
  const least = (schema: Json) => (schema['minimum'] ?? Number.NEGATIVE_INFINITY) as number;
  const most = (schema: Json) => (schema['maximum'] ?? Number.POSITIVE_INFINITY) as number;
  if (Math.sign(least(is) - least(was)) === narrower)
    found.push(`${at}.minimum: ${least(was)} became ${least(is)}`);
  if (Math.sign(most(was) - most(is)) === narrower)
    found.push(`${at}.maximum: ${most(was)} became ${most(is)}`);
}

function compareValues(was: Json, is: Json, at: string, direction: Direction, found: string[]): void {
  for (const keyword of ['enum', 'x-extensible-enum']) {
    const [old, now] = [was[keyword] as string[] | undefined, is[keyword] as string[] | undefined];
    if ((old === undefined) !== (now === undefined))
      found.push(`${at}.${keyword}: a set was opened or closed`);
    if (!old || !now) continue;
    for (const value of old.filter((one) => !now.includes(one)))
      found.push(`${at}.${keyword}: ${value} is gone`);
    if (keyword !== 'enum' || direction === 'request') continue;
    for (const value of now.filter((one) => !old.includes(one)))
      found.push(`${at}.enum: ${value} is new to a closed set`);
  }
}

/** Compares what both have under a name; what only the older has is gone. */
function each(
  was: unknown,
  is: unknown,
  at: string,
  found: string[],
  compare: (was: Json, is: Json, at: string) => void,
): void {
  const now = (is ?? {}) as Record<string, Json>;
  for (const [name, one] of Object.entries((was ?? {}) as Record<string, Json>)) {
    const other = now[name];
    if (other === undefined) found.push(`${at}.${name}: gone`);
    else compare(one, other, `${at}.${name}`);
  }
}

function same(was: unknown, is: unknown, at: string, found: string[]): void {
  const [old, now] = [JSON.stringify(was), JSON.stringify(is)];
  if (old !== now) found.push(`${at}: ${old?.slice(0, 200)} became ${now?.slice(0, 200)}`);
}
