import type { Command } from 'commander';
import type pg from 'pg';
import { inTransaction } from '../database/connect.ts';
import { issueKey } from '../keys/issue-key.ts';
import { countOf, idOf } from './arguments.ts';
import { addCommand, type Catalogue, type CommandContext, UsageError } from './command.ts';
import { printOne } from './print.ts';
import { planFleet, type SampleSize } from './sample-fleet.ts';
import { planRequests, requestsOf, SAMPLE_KEYS } from './sample-requests.ts';
import { type PlannedRequest, writeActivity } from './write-sample-activity.ts';
import { type History, type SampleEvent, writeFleet } from './write-sample-fleet.ts';

/** How much of the log at most tells of the sample connections; the rest is API requests. */
const EVENT_SHARE = 1 / 3;

// Nobody has read through the API what holds no API request; and only what was created is moved.
const lockUnread = `
  select h.last_id = h.events
     and not exists (select from health_check c where c.account_id = $1)
     and not exists (select from activity a
                      where a.account_id = $1
                        and a.action_type not in ('account_created', 'api_key_created', 'connection_added', 'member_added'))
      as unread
    from activity_head h
   where h.account_id = $1
     for update`;

const moveBack = [
  'update activity set occurred_at = occurred_at - make_interval(days => $2) where account_id = $1',
  'update activity_head set last_at = last_at - make_interval(days => $2) where account_id = $1',
  'update account set created_at = created_at - make_interval(days => $2) where account_id = $1',
  'update api_key set created_at = created_at - make_interval(days => $2) where account_id = $1',
  'update connection set created_at = created_at - make_interval(days => $2) where account_id = $1',
  'update member set joined_at = joined_at - make_interval(days => $2) where account_id = $1',
];

const readHistory = `
  select a.plan,
         (extract(epoch from greatest(h.last_at, clock_timestamp() - make_interval(days => $2))) * 1000000)::bigint as start,
         (extract(epoch from clock_timestamp()) * 1000000)::bigint as end
    from account a
    join activity_head h using (account_id)
   where a.account_id = $1`;

/** Makes room: the set-up of an account that nobody has read yet is dated back, so that a history fits after it. */
async function openHistory(
  owner: pg.Pool,
  accountId: number,
  days: number,
): Promise<History & { plan: string }> {
  return inTransaction(owner, async (client) => {
    const { rows } = await client.query<{ unread: boolean }>(lockUnread, [accountId]);
    for (const statement of rows[0]?.unread ? moveBack : []) await client.query(statement, [accountId, days]);
    const [history] = (await client.query<History & { plan: string }>(readHistory, [accountId, days])).rows;
    if (history === undefined) throw new Error(`There is no account ${accountId}.`);
    return history;
  });
}

const retireKey = `
  update api_key
     set revoked_at = timestamptz 'epoch' + $3::bigint * interval '1 microsecond'
   where account_id = $1 and api_key_id = $2`;

/** The two keys that the sample requests came with: shown to nobody, and revoked when the history ends. */
async function addKeys(client: pg.ClientBase, accountId: number, { start, end }: History): Promise<number[]> {
  const ids: number[] = [];
  for (const name of SAMPLE_KEYS) {
    const at = new Date(start / 1_000).toISOString();
    const { id } = await issueKey(client, { accountId, name, at, lifetime: null });
    await client.query(retireKey, [accountId, id, end]);
    ids.push(id);
  }
  return ids;
}

/** Fills an account with sample data and gives the counts of what was written. */
export async function writeSampleData(
  writer: pg.Pool,
  owner: pg.Pool,
  catalogue: Catalogue,
  { accountId, seed, ...size }: SampleSize & { accountId: number; seed: number },
): Promise<Record<'connections' | 'health_checks' | 'tickets' | 'activity', number>> {
  const { plan, ...history } = await openHistory(owner, accountId, size.days);
  const fleet = planFleet(size, seed, catalogue.checks);
  const { events, keys } = await inTransaction(writer, async (client) => ({
    events: await writeFleet(client, accountId, fleet, history, catalogue),
    keys: size.activity > 0 ? await addKeys(client, accountId, history) : [],
  }));
  const told = newest(events, Math.floor(size.activity * EVENT_SHARE));
  const kinds = requestsOf(plan).map((kind) => ({ ...kind, apiKeyId: keys[kind.key] ?? 0 }));
  const requests = timed(size.activity - told.length, history, seed, kinds.length);
  return {
    connections: fleet.length,
    health_checks: fleet.reduce((sum, { runs }) => sum + runs.length, 0),
    tickets: size.tickets,
    activity: await writeActivity(writer, accountId, requests, told, kinds),
  };
}

function newest(events: readonly SampleEvent[], count: number): readonly SampleEvent[] {
  return events.slice(Math.max(0, events.length - count));
}

function* timed(
  count: number,
  { start, end }: History,
  seed: number,
  kinds: number,
): Generator<PlannedRequest> {
  const days = (end - start) / 86_400_000_000;
  const startHour = Math.floor((start / 3_600_000_000) % 24); // whole, so that a later hour alone gives another order
  for (const { at, pick } of planRequests(count, { days, startHour }, seed)) {
    yield { at: Math.floor(start + at * (end - start)), kind: Math.floor(pick * kinds) };
  }
}

const NOTES = `
The history ends now and goes back --days. It follows what the account's log already
holds: in an account whose log nobody has read through the API and which has only been
set up, the set-up is dated back to make room; in any other the history begins after
the last entry, however short that makes it. Sample connections are never monitored.
A run comes four times a day (at least 28 a connection), less often when that would be
over 20,000. Up to a third of --activity tells of the newest runs and tickets, the rest
is API requests, made with two keys that are revoked and were shown to nobody.`;

/** `sample-data`. */
export function addSampleDataCommand(program: Command, context: CommandContext): void {
  const count = (option: string, most: number) => countOf(option, 0, most);
  addCommand(program, 'sample-data', 'fill an account with believable data, the same for the same seed')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .option(
      '--connections <N>',
      'connections with a history of health checks',
      count('--connections', 100_000),
      10,
    )
    .option('--tickets <N>', 'tickets of theirs', count('--tickets', 10_000_000), 50)
    .option('--activity <N>', 'entries of the activity log', count('--activity', 1_000_000_000), 1_000)
    .option('--days <N>', 'how far back the history goes', countOf('--days', 1, 3_650), 30)
    .option('--seed <N>', 'another seed gives other data', count('--seed', 2 ** 32 - 1), 1)
    .addHelpText('after', NOTES)
    .action(
      async ({ account, json, ...size }: SampleSize & { account: number; seed: number; json?: boolean }) => {
        if (size.tickets > 0 && size.connections === 0) {
          throw new UsageError(
            'Tickets belong to connections: give --connections 1 or more, or --tickets 0.',
          );
        }
        const catalogue = await context.loadCatalogue();
        const counts = await context.withStore((writer, openOwner) =>
          writeSampleData(writer, openOwner(), catalogue, { accountId: account, ...size }),
        );
        printOne(json, counts);
      },
    );
}
