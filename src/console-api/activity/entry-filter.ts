import { isIP } from 'node:net';
import type { EntryFilter } from '../../activity/search-entries.ts';
import { actionTypeParameter } from '../../api/endpoints/entries.ts';
import { wholeNumber } from '../../http/query-parameters.ts';
import { rangeParameters, readRange } from '../../http/range-parameters.ts';
import { Rejection } from '../../platform/rejection.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { ENTRY_OBJECTS, type EntryObject, OBJECT_PATTERN } from '../../vocabulary/entry-objects.ts';

/** The parameters that choose entries of the log. */
export const filterParameters = {
  ...rangeParameters,
  action_type: actionTypeParameter,
  member_id: wholeNumber('member_id', 'Entries of what a member did.', { minimum: 1 }),
  key_id: wholeNumber('key_id', 'Requests by an API key, and entries about it.', { minimum: 1 }),
  /** One status of requests, such as 429, or all of a class, such as 4xx. */
  status: Type.Optional(
    Type.String({
      pattern: '^[1-5](?:xx|[0-9]{2})$',
      description: 'status must be a status such as 429, or a class such as 4xx.',
    }),
  ),
  address: Type.Optional(
    Type.String({ maxLength: 50, description: 'address must have at most 50 characters.' }),
  ),
  object: Type.Optional(
    Type.String({
      pattern: OBJECT_PATTERN,
      description: `object must be one of ${Object.keys(ENTRY_OBJECTS).join(', ')}, a colon and an id, such as connection:3.`,
    }),
  ),
};

export type FilterQuery = Static<ReturnType<typeof Type.Object<typeof filterParameters>>>;

/** The filter of validated parameters. Throws a 400 for an empty range or a wrong address. */
export function readFilter(query: FilterQuery): EntryFilter {
  const { since, before } = readRange(query);
  return {
    since,
    before,
    // Text in PostgreSQL can't contain NUL, so no action type does.
    actionType: query.action_type?.replaceAll('\0', '\uFFFD') ?? null,
    memberId: query.member_id ?? null,
    apiKeyId: query.key_id ?? null,
    status: query.status === undefined ? null : statusesOf(query.status),
    address: query.address === undefined ? null : addressOf(query.address),
    object: query.object === undefined ? null : objectOf(query.object),
  };
}

/** What an export's entry says of its filter. */
export function recordedFilter(query: FilterQuery, { since, before }: EntryFilter): Record<string, unknown> {
  const { from: _from, to: _to, ...rest } = query;
  return { ...rest, ...(since !== null && { since }), ...(before !== null && { before }) };
}

function statusesOf(status: string): [from: number, to: number] {
  const first = Number(status[0]) * 100;
  return status.endsWith('xx') ? [first, first + 99] : [Number(status), Number(status)];
}

function addressOf(text: string): string {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  // Node accepts a zone, PostgreSQL does not.
  if (version === 0 || address.includes('%') || Number(bits ?? 0) > (version === 4 ? 32 : 128)) {
    throw new Rejection(
      'invalid_parameter',
      'address must be an IP address, or a network such as 192.0.2.0/24.',
      { parameter: 'address' },
    );
  }
  return text;
}

function objectOf(text: string): [property: string, id: number] {
  const [kind = '', id] = text.split(':');
  return [ENTRY_OBJECTS[kind as EntryObject], Number(id)];
}
