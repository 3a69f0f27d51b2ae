import type { Read } from '../store/read.ts';
import { ENTRY, headAndEntries, pagePlaces } from './positions.sql.ts';
import type { EntryRow } from './write-entry.ts';
import { type LogHead, type WrittenPage, writeRows } from './write-rows.ts';

/** Which action types to list: those given, or all but those given. */
export interface TypeChoice {
  types: readonly string[];
  isExcluding: boolean;
}

/** Which entries of these types; null = any. Instants are in PostgreSQL's format. */
export interface ChosenPage {
  since: string | null;
  before: string | null;
  afterId: number | null;
  order: 'asc' | 'desc';
  offset: number;
  perPage: number;
}

/** SQL: how many of the chosen entries there are up to a bound. */
const chosenUpTo = (bound: string) => `activity_chosen_count($1, ${bound}, $7, $8, $9)`;

/** SQL: the first entry of the page, and the kinds of entries that are chosen. */
const start = `start as materialized (
  select activity_chosen_id($1, below_id, upto_id, first, $7, $8, $9) as id, last - first + 1 as size, upto_id, first_id, events
    from page, span
   where first <= last
), type as materialized (
  select h.action_type from activity_type_head h
   where h.account_id = $1 and h.action_type <> 'api_request' and (h.action_type = any($9::text[])) <> $8::boolean
), request as materialized (
  select start.id - 1 - coalesce(
           (select event_number from activity
             where account_id = $1 and event_number is not null and id between start.first_id and start.id - 1
             order by id desc limit 1), start.events) as before
    from start
   where $7::boolean
)`;

/** SQL: the entries of the page. */
const entries = `entry as materialized (
  select ${ENTRY}
    from start,
         lateral (
           select found.*
             from type,
                  lateral (select a.* from activity a
                            where a.account_id = $1 and a.event_number is not null and a.action_type = type.action_type
                              and a.id between start.id and start.upto_id
                            order by a.id limit start.size) found
           union all
           select a.*
             from request,
                  lateral (select place + coalesce(
                                    (select event_number from activity
                                      where account_id = $1 and event_number is not null
                                        and (requests_before, event_number) > (start.first_id - 1 - start.events, start.events)
                                        and requests_before < place
                                      order by requests_before desc, event_number desc limit 1),
                                    start.events) as id
                             from generate_series(request.before + 1, request.before + start.size) as place offset 0) chosen,
                  lateral (select * from activity where account_id = $1 and id = chosen.id and id <= start.upto_id offset 0) a
         ) e
   order by e.id
   limit (select size from start)
)`;

/**
 * A page of the log, in one statement. Its first entry is found by its number, as the number of entries before each id is stored by
 * kind; from there on, each type gives as many entries as a page has. Parameters: account, since, before, after_id, offset, entries per
 * page, whether requests are chosen, whether all other types but the listed are, and these types.
 */
const page = (order: 'asc' | 'desc') =>
  `${pagePlaces(chosenUpTo, order)}, ${start}, ${entries}${headAndEntries(order)}`;

const STATEMENTS = { asc: page('asc'), desc: page('desc') };

/** Reads a page of the entries of several types. Every page costs the same, however long the log is. */
export async function readChosenEntries(
  read: Read,
  accountId: number,
  { types, isExcluding }: TypeChoice,
  { since, before, afterId, order, offset, perPage }: ChosenPage,
): Promise<WrittenPage> {
  const others = [...new Set(types)].filter((type) => type !== 'api_request');
  const hasRequests = types.includes('api_request') !== isExcluding;
  const place = [accountId, since, before, afterId, offset, perPage];
  const rows = await read<LogHead | EntryRow>(STATEMENTS[order], [
    ...place,
    hasRequests,
    isExcluding,
    others,
  ]);
  return writeRows(rows);
}
