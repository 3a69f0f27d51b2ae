import { notFound } from '../../platform/rejection.ts';
import { Type } from '../../platform/schema/schema.ts';
import type { BlockingEpisode } from '../../runs/episodes/blocking-episode.ts';
import { endRoot } from '../../runs/episodes/end-root.ts';
import { listEpisodes } from '../../runs/episodes/list-episodes.ts';
import { BLOCKING_CHECKS } from '../../vocabulary/blocking-checks.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import { endOf, historyRange, readHistoryRange } from '../history-range.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { type Episode, Episodes } from './episode-schemas.ts';

/** A week of incidents, which may last over a night. */
const DAYS = 7;
const DAY_MS = 86_400_000;

/** An episode has up to 160 KiB of trees, though most have a few hundred bytes. */
const LISTED = 25;

const selectEngine = `
  select engine from connection where account_id = $1 and connection_id = $2 and removed_at is null`;

const listOfConnection = consoleRoute({
  method: 'GET',
  path: '/connections/:id/episodes',
  permission: 'health:read',
  query: Type.Object(historyRange),
  response: Episodes,
  handler: ({ actor: { accountId }, id, query, read }) =>
    read(async (run) => {
      const [connection] = await run<{ engine: Engine }>(selectEngine, [accountId, id]);
      if (!connection) throw notFound();
      const range = { ...readHistoryRange(query, DAYS), limit: LISTED + 1 };
      return toEpisodes(connection.engine, await listEpisodes(run, accountId, id, range));
    }),
});

const selectTicket = `
  select t.connection_id, t.check_id, t.first_seen_at, t.resolved_at, c.engine
    from ticket t
    join connection c using (account_id, connection_id)
   where t.account_id = $1 and t.ticket_id = $2`;

interface TicketRow {
  connection_id: number;
  check_id: string;
  first_seen_at: Date;
  resolved_at: Date | null;
  engine: Engine;
}

/** The episodes that went on while a ticket was open. */
const listOfTicket = consoleRoute({
  method: 'GET',
  path: '/tickets/:id/episodes',
  permission: 'health:read',
  response: Episodes,
  handler: ({ actor: { accountId }, id, read }) =>
    read(async (run) => {
      const [ticket] = await run<TicketRow>(selectTicket, [accountId, id]);
      if (!ticket) throw notFound();
      if (!BLOCKING_CHECKS.includes(ticket.check_id)) return { episodes: [], more: false };
      const { connection_id, first_seen_at: seenFrom, resolved_at } = ticket;
      const from = new Date(seenFrom.getTime() - DAY_MS);
      const range = { from, to: endOf(resolved_at ?? new Date()), seenFrom, limit: LISTED + 1 };
      return toEpisodes(ticket.engine, await listEpisodes(run, accountId, connection_id, range));
    }),
});

function toEpisodes(engine: Engine, stored: readonly BlockingEpisode[]): Episodes {
  return {
    episodes: stored.slice(0, LISTED).map((episode) => toEpisode(engine, episode)),
    more: stored.length > LISTED,
  };
}

function toEpisode(engine: Engine, stored: BlockingEpisode): Episode {
  return {
    ...stored,
    began_at: stored.began_at.toISOString(),
    seen_at: stored.seen_at.toISOString(),
    ended_at: stored.ended_at?.toISOString() ?? null,
    ends: endRoot(engine, stored),
  };
}

/** The routes that list when sessions blocked others. */
export const episodeRoutes: ConsoleRoute[] = [listOfConnection, listOfTicket];
