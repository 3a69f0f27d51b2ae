import type { Command } from 'commander';
import type pg from 'pg';
import { issueKey } from '../../accounts/keys/issue-key.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import type { SecretKeys } from '../../platform/encryption.ts';
import { inTransaction } from '../../store/connect.ts';
import { countOf, idOf } from '../arguments.ts';
import { addCommand, type Catalogue, type CommandContext } from '../command.ts';
import { printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';
import { writeBackups } from './backups/write-sample-backups.ts';
import { writeDestination } from './destination/write-sample-destination.ts';
import { sampleOwnCheck } from './own-check/sample-own-check.ts';
import { writeOwnCheck } from './own-check/write-sample-own-check.ts';
import { countEvents, fleetEvents } from './sample-events.ts';
import { type History, planFleet, type SampleSize } from './sample-fleet.ts';
import { openHistory } from './sample-history.ts';
import { progressBar, type SampleStep } from './sample-progress.ts';
import { planRequests, requestsOf, SAMPLE_KEYS } from './sample-requests.ts';
import { writeActivity } from './write-sample-activity.ts';
import { writeAlerts } from './write-sample-alerts.ts';
import { writeFleet } from './write-sample-fleet.ts';
import { writeLoad } from './write-sample-load.ts';
import { writeMeasures } from './write-sample-measures.ts';
import { writeQueries } from './write-sample-queries.ts';
import { writeTickets } from './write-sample-tickets.ts';

/** Maximum share of log entries about the sample connections. The rest are API requests. */
const EVENT_SHARE = 1 / 10;
const DAY_US = 86_400_000_000;

const retireKey = `
  update api_key
     set revoked_at = least(clock_timestamp(), timestamptz 'epoch' + $3::bigint * interval '1 microsecond')
   where account_id = $1 and api_key_id = $2`;

/** Adds the two keys of the sample requests. They are never shown, and are revoked at the end of the history. */
async function addKeys(client: pg.ClientBase, accountId: number, { start, end }: History): Promise<number[]> {
  const ids: number[] = [];
  for (const name of SAMPLE_KEYS) {
    const at = new Date(start / 1_000).toISOString();
    const { id } = await issueKey(client, { accountId, at }, { name, lifetime: null });
    await client.query(retireKey, [accountId, id, end]);
    ids.push(id);
  }
  return ids;
}

/** Everything else needs no key, so without one, or with a wrong one, only the destination is left out. */
async function openSecretIfAny(
  { openSecret }: CommandContext,
  writer: pg.Pool,
  openOwner: () => pg.Pool,
): Promise<SecretKeys | null> {
  try {
    return await openSecret(writer, openOwner);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'the secret key could not be read';
    process.stderr.write(`The sample has no destination: ${reason}\n`);
    return null;
  }
}

interface SampleOptions extends SampleSize {
  accountId: number;
  seed: number;
  /** Encrypts the secrets of the destination; null = there is none. */
  secret: SecretKeys | null;
}

/** The number of rows written. */
type SampleCounts = Record<'connections' | 'health_checks' | 'tickets' | 'activity', number>;

/**
 * Fills an account with sample data: the fleet with its runs, the tickets, then the log, each in short transactions
 * that leave the store consistent. `step` starts a named step and returns its progress callback, which may throw to
 * stop.
 */
export async function writeSampleData(
  writer: pg.Pool,
  owner: pg.Pool,
  catalogue: Catalogue,
  { accountId, seed, secret, ...size }: SampleOptions,
  step: (name: string) => SampleStep = () => () => {},
): Promise<SampleCounts> {
  const { plan, history } = await openHistory(owner, accountId, size);
  const checks = new Map([...catalogue.checks, sampleOwnCheck].map((check) => [check.id, check]));
  const target = { writer, accountId, history, checks };
  const days = Math.max(1, Math.round((history.end - history.start) / DAY_US)); // fewer if the log has later entries
  const planned = planFleet({ ...size, days }, seed);
  const most = Math.floor(size.activity * EVENT_SHARE);
  const written = await writeFleet(target, planned, catalogue, { logged: most, step: step('health checks') });
  const stored = { ...planned, ...written };
  const tickets = await writeTickets(target, stored, step('tickets'));
  await writeMeasures(target, stored, step('measures'));
  await writeQueries(target, stored, step('queries'));
  await writeLoad(target, stored, step('load'));
  await writeBackups(target, stored);
  await writeOwnCheck(target, stored);
  if (secret !== null && size.connections > 0) await writeDestination(target, secret);
  await writeAlerts(target, stored, catalogue, step('alerts'));
  const fleet = { ...stored, ...tickets, checks };

  const eventCount = Math.min(most, countEvents(fleet));
  const keys =
    size.activity > 0 ? await inTransaction(writer, (client) => addKeys(client, accountId, history)) : [];
  const kinds = requestsOf(plan).map((kind) => ({ ...kind, apiKeyId: keys[kind.key] ?? 0 }));
  const requests = planRequests(size.activity - eventCount, history, seed, kinds.length);
  const entries = { requests, events: fleetEvents(fleet, history, eventCount) };
  const first = (await lastEntry(writer, accountId)) + 1;
  const activity = await writeActivity(writer, accountId, entries, kinds, {
    all: size.activity,
    step: step('activity'),
  }).finally(() => recordSampleEntries(writer, accountId, first));
  return {
    connections: size.connections,
    health_checks: size.connections * fleet.runs,
    tickets: size.tickets,
    activity,
  };
}

async function lastEntry(writer: pg.Pool, accountId: number): Promise<number> {
  const { rows } = await writer.query<{ last_id: number }>(
    'select last_id from activity_head where account_id = $1',
    [accountId],
  );
  return rows[0]?.last_id ?? 0;
}

/** Records which entries are sample data. Otherwise `activity verify` would report them as a rewritten log. */
async function recordSampleEntries(writer: pg.Pool, accountId: number, first: number): Promise<void> {
  const last = await lastEntry(writer, accountId);
  if (last < first) return;
  await changeAccount(writer, accountId, async ({ record }) =>
    record('sample_data_added', '/activity', { first_id: first, last_id: last }),
  );
}

/** Aborts on SIGINT and SIGTERM. The current batch is still stored, and the store is closed. */
function stopSignal(): AbortSignal {
  const stopped = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.once(name, () =>
      stopped.abort(
        new Error(
          'Interrupted: the data written so far is consistent and stays; you can run the command again.',
        ),
      ),
    );
  }
  return stopped.signal;
}

const NOTES = `
The history covers the last --days days. It starts after the last entry that the account's
log already has, even if that makes it short. In a new account whose log nobody has read
through the API, the set-up is dated back to make room. The monitor ignores sample
connections.

Each connection has four runs a day (at least 28 in all), or fewer if there would be more
than 100,000 runs, but at least one a day. Runs of the last 7 days have findings, older
runs only a score. Up to a tenth of the log entries are about the newest runs and tickets.
The others are API requests, made with two revoked keys that were never shown.

The first 20 connections have measured values with their history, forecasts and changes,
blocking episodes and deadlocks, alerts about their score, what their queries did in the
last two weeks, and the load of the last three days. Nobody is told of the alerts. The
first one has an own check with a ticket, and the tenth is a PgBouncer. A destination shows
a weekly digest and gets none until you change it. The service seals the log within ten
minutes; "dbvitals activity seal" does it at once.

If you interrupt the command, the account stays consistent. If you run it again, it adds
new connections and continues after the last log entry.`;

/** `sample-data`. */
export function addSampleDataCommand(program: Command, context: CommandContext): void {
  const count = (option: string, most: number) => countOf(option, 0, most);
  addCommand(program, 'sample-data', 'fill an account with plausible data; the same seed gives the same data')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .option(
      '--connections <N>',
      'connections with a history of health checks',
      count('--connections', 100_000),
      10,
    )
    .option('--tickets <N>', 'tickets of these connections', count('--tickets', 10_000_000), 50)
    .option('--activity <N>', 'entries in the activity log', count('--activity', 1_000_000_000), 1_000)
    .option('--days <N>', 'days of history', countOf('--days', 1, 3_650), 30)
    .option('--seed <N>', 'seed of the random data', count('--seed', 2 ** 32 - 1), 1)
    .addHelpText('after', NOTES)
    .action(
      async ({ account, json, ...size }: SampleSize & { account: number; seed: number; json?: boolean }) => {
        if (size.tickets > 0 && size.connections === 0) {
          throw new UsageError('Tickets need connections: give --connections 1 or more, or --tickets 0.');
        }
        const catalogue = await context.loadCatalogue();
        const bar = progressBar();
        const stopped = stopSignal();
        const step = (name: string): SampleStep => {
          const show = bar.step(name);
          return (done, all) => {
            stopped.throwIfAborted();
            show(done, all);
          };
        };
        const counts = await context
          .withStore(async (writer, openOwner) => {
            const secret = await openSecretIfAny(context, writer, openOwner);
            return writeSampleData(
              writer,
              openOwner(),
              catalogue,
              { accountId: account, secret, ...size },
              step,
            );
          })
          .finally(bar.end);
        printOne(json, counts);
      },
    );
}
