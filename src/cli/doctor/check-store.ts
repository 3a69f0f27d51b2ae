import type pg from 'pg';
import type { Config } from '../../config/config.ts';
import { secretKeys } from '../../config/secret-key.ts';
import type { StoreRole } from '../../config/store-url.ts';
import { countLost } from '../../connections/rotate-secret-key.ts';
import { countDueConnections } from '../../monitor/claim.ts';
import { countPulses } from '../../monitor/pulse/claim-pulses.ts';
import { inTransaction } from '../../store/connect.ts';
import { comparePrivileges } from '../../store/granted.ts';
import { missingRoles, readSchema, whyNoMigration } from '../../store/migrate.ts';
import { one } from '../../store/one.ts';
import { checkBackups } from './check-backups.ts';
import { checkMoves } from './check-moves.ts';
import { checkNotifications } from './check-notifications.ts';
import { describeSilence } from './describe-silence.ts';
import type { Diagnosis } from './diagnosis.ts';

// Limits, sessions and the log use only the database's clock. Single sign-on compares this machine's with the provider's.
const CLOCK_SECONDS = 5;
const CLOCK_TRIES = 3;

// The shortest interval of a connection is 10 s. After five minutes no monitor is running, or it is far behind.
const LATE_SECONDS = 300;

// Rounds run hourly. A failed round is retried an hour later.
const UNSEALED_HOURS = 3;
const UNCUT_DAYS = 2;

const BUSY_SHARE = 0.8;

type Pools = ReadonlyMap<StoreRole, pg.Pool>;
type Check = (config: Config, owner: pg.Pool, writer: pg.Pool) => Promise<Diagnosis>;

/** Checks a store that answers. A check that throws becomes a diagnosis of its own, and the others still run. */
export async function checkStore(config: Config, pools: Pools): Promise<Diagnosis[]> {
  const [owner, writer] = [pools.get('owner'), pools.get('writer')];
  if (!owner || !writer) throw new Error('The pools of owner and writer are required.');
  const clock = await attempt('clock', () => checkClock(owner));
  const server = await attempt('server', () => checkServer(owner));
  const schema = await attempt('schema', () => checkSchema(owner));
  // The other checks need tables and roles that an older schema lacks.
  if (schema.status !== 'ok') {
    const migration = await attempt('roles', () => checkMigrationRights(owner));
    return [schema, clock, server, migration];
  }
  const roles = await attempt('roles', () => checkRoles(owner, [...pools.values()]));
  const checks: [string, Check][] = [
    ['secret', checkStoredKeys],
    ['monitor', checkMonitor],
    ['pulse', checkPulses],
    ['retention', checkRetention],
    ['backup', (_config, owner) => checkBackups(owner)],
    ['notifications', (config, _owner, writer) => checkNotifications(config, writer)],
  ];
  const rest: Diagnosis[] = [];
  for (const [about, check] of checks) rest.push(await attempt(about, () => check(config, owner, writer)));
  const moves = await checkMoves(writer);
  if (moves) rest.push(moves);
  return [schema, clock, server, roles, ...rest];
}

async function attempt(about: string, check: () => Promise<Diagnosis>): Promise<Diagnosis> {
  try {
    return await check();
  } catch (error) {
    const message = error instanceof Error ? error.message : 'The check failed.';
    return { about, status: 'error', message, remedy: 'Fix this, then run "dbvitals doctor" again.' };
  }
}

async function checkSchema(owner: pg.Pool): Promise<Diagnosis> {
  const about = 'schema';
  const { applied, pending } = await readSchema(owner);
  if (applied.length === 0) {
    const message = 'The database is empty: dbvitals was never started on it.';
    const remedy = 'Start the service, or run "dbvitals migrate". Is this the right database?';
    return { about, status: 'warning', message, remedy };
  }
  if (pending.length === 0) {
    return { about, status: 'ok', message: `The schema is up to date (${applied.at(-1)}).`, remedy: null };
  }
  return {
    about,
    status: 'warning',
    message: `The schema is missing ${pending.length} ${pending.length === 1 ? 'migration' : 'migrations'} of this version.`,
    remedy:
      'See "dbvitals migrate --plan", then run "dbvitals migrate". Starting the service applies them too.',
  };
}

async function checkClock(owner: pg.Pool): Promise<Diagnosis> {
  let best = { took: Number.POSITIVE_INFINITY, ahead: 0 };
  for (let turn = 0; turn < CLOCK_TRIES; turn += 1) {
    const began = Date.now();
    const { rows } = await owner.query<{ ms: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
    );
    const took = Date.now() - began;
    if (took < best.took)
      best = { took, ahead: (one(rows, 'read the clock of the store').ms - began - took / 2) / 1_000 };
  }
  const about = 'clock';
  const seconds = Math.abs(best.ahead).toFixed(1);
  if (Math.abs(best.ahead) <= CLOCK_SECONDS) {
    return {
      about,
      status: 'ok',
      message: `This machine's clock and the database's are ${seconds} s apart.`,
      remedy: null,
    };
  }
  return {
    about,
    status: 'warning',
    message: `The database's clock is ${seconds} s ${best.ahead > 0 ? 'ahead of' : 'behind'} this machine's.`,
    remedy: 'Synchronize both by NTP (timedatectl set-ntp true). Stored times come from the database.',
  };
}

const server = `
  select current_setting('fsync') = 'on' and current_setting('synchronous_commit') <> 'off' as durable,
         pg_size_pretty(pg_database_size(current_database())) as size,
         (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as room`;

async function checkServer(owner: pg.Pool): Promise<Diagnosis> {
  const { rows } = await owner.query<{ durable: boolean; size: string; connections: number; room: number }>(
    server,
  );
  const about = 'server';
  const { durable, size, connections, room } = one(rows, 'read the settings of the store');
  if (!durable) {
    return {
      about,
      status: 'error',
      message: 'fsync or synchronous_commit is off: a crash can lose the log entries of answered requests.',
      remedy: 'Turn both on in postgresql.conf, then "select pg_reload_conf()".',
    };
  }
  const message = `The size of the store is ${size}; ${connections} of ${room} connections are in use.`;
  if (connections < BUSY_SHARE * room) return { about, status: 'ok', message, remedy: null };
  const remedy = 'Raise max_connections, or put PgBouncer in front of the store: docs/scaling.md.';
  return { about, status: 'warning', message, remedy };
}

const roles = `
  select o.rolsuper as superuser, quote_ident(o.rolname) as owner,
         array(select rolname::text from pg_roles
                where rolname in ('dbvitals_writer', 'dbvitals_reader', 'dbvitals_console')
                  and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb)) as mighty
    from pg_roles o
   where o.rolname = current_user`;

/** Checks that the store's user can apply a migration. */
async function checkMigrationRights(owner: pg.Pool): Promise<Diagnosis> {
  const about = 'roles';
  const refused = await whyNoMigration(owner);
  if (refused === null)
    return {
      about,
      status: 'ok',
      message: "The store's user can apply migrations.",
      remedy: null,
    };
  return { about, status: 'error', ...refused };
}

async function checkRoles(owner: pg.Pool, others: pg.Pool[]): Promise<Diagnosis> {
  const about = 'roles';
  for (const pool of others) {
    try {
      await pool.query('select 1');
    } catch (error) {
      throw (await missingRoles(owner, error)) ?? error;
    }
  }
  const { rows } = await owner.query<{
    superuser: boolean;
    owner: string;
    mighty: string[];
  }>(roles);
  const { superuser, owner: user, mighty } = one(rows, 'read the roles of the store');
  const { lacking, excess } = await comparePrivileges(owner);
  if (mighty.length > 0) {
    return {
      about,
      status: 'error',
      message: `${mighty.join(' and ')} must not have superuser, bypassrls, createrole or createdb: accounts are not isolated.`,
      remedy: mighty
        .map((name) => `alter role ${name} nosuperuser nobypassrls nocreaterole nocreatedb;`)
        .join(' '),
    };
  }
  if (excess.length + lacking.length > 0) {
    const message = [
      ...(lacking.length > 0 ? [`Requests fail, because a role lacks ${count(lacking)}.`] : []),
      ...(excess.length > 0 ? [`A role has ${count(excess)} that it must not have.`] : []),
    ].join(' ');
    const remedy = `As the store's user, run: ${[...lacking, ...excess].join(' ')}`;
    return { about, status: 'error', message, remedy };
  }
  if (superuser) {
    return {
      about,
      status: 'warning',
      message: `The store's user ${user} is a superuser.`,
      remedy: 'Use a role for dbvitals alone in the URL of the store: see docs/reference/store.md.',
    };
  }
  return { about, status: 'ok', message: 'Each role has what it needs and no more.', remedy: null };
}

const count = ({ length }: readonly string[]) => (length === 1 ? '1 privilege' : `${length} privileges`);

async function checkStoredKeys(config: Config, owner: pg.Pool): Promise<Diagnosis> {
  const about = 'secret';
  const lost = await inTransaction(owner, (client) => countLost(client, secretKeys(config)));
  if (lost === 0) {
    return { about, status: 'ok', message: 'The secret key decrypts every stored key.', remedy: null };
  }
  return {
    about,
    status: 'error',
    message: `The secret key does not decrypt ${lost} of the stored keys: health checks and seals of these accounts fail.`,
    remedy:
      'Add the key that encrypted them to DBVITALS_SECRET_KEY, after the new one. If it is lost, see docs/secrets.md.',
  };
}

async function checkMonitor(_config: Config, _owner: pg.Pool, writer: pg.Pool): Promise<Diagnosis> {
  const about = 'monitor';
  const { due, late } = await countDueConnections(writer);
  const message =
    due === 0
      ? 'No health check is waiting.'
      : `Health checks waiting: ${due}, the longest for ${Math.round(late)} s.`;
  const silence = await describeSilence(writer);
  if (silence) return { about, status: 'warning', ...silence };
  if (late < LATE_SECONDS) return { about, status: 'ok', message, remedy: null };
  const remedy =
    'Start the service or "dbvitals monitor". If one is running, raise --concurrency or start another.';
  return { about, status: 'warning', message, remedy };
}

async function checkPulses({ pulse }: Config, _owner: pg.Pool, writer: pg.Pool): Promise<Diagnosis> {
  const about = 'pulse';
  if (!pulse)
    return { about, status: 'ok', message: 'DBVITALS_PULSE switches pulses off here.', remedy: null };
  const { wanted, pulsed } = await countPulses(writer);
  const message =
    wanted === 0 ? 'No connection should have a pulse.' : `Connections with a pulse: ${pulsed} of ${wanted}.`;
  if (wanted === 0 || pulsed > 0) return { about, status: 'ok', message, remedy: null };
  const remedy =
    'Start the service or "dbvitals monitor", and do not set DBVITALS_PULSE to no there: until then, faults are found by the next health check only.';
  return { about, status: 'warning', message, remedy };
}

const unsealed = `
  select count(*)::int as logs
    from activity_head h
    left join activity_floor f on f.account_id = h.account_id
    left join lateral (select last_id, sealed_at from activity_seal s
                        where s.account_id = h.account_id order by number desc limit 1) s on true
    join activity a on a.account_id = h.account_id and a.id = coalesce(s.last_id, f.first_id - 1, 0) + 1
   where a.occurred_at < now() - $1 * interval '1 hour'
     and coalesce(s.sealed_at < now() - $1 * interval '1 hour', true)`;

const uncut = `
  select count(*)::int as logs
    from activity_head h
    left join activity_floor f on f.account_id = h.account_id
    join activity a on a.account_id = h.account_id and a.id = coalesce(f.first_id, 1)
   where a.occurred_at < now() - $1 * interval '24 hours'`;

async function checkRetention({ activityDays }: Config, owner: pg.Pool): Promise<Diagnosis> {
  const about = 'retention';
  const count = async (statement: string, value: number) =>
    one((await owner.query<{ logs: number }>(statement, [value])).rows, 'count the logs').logs;
  const open = await count(unsealed, UNSEALED_HOURS);
  const old = activityDays === null ? 0 : await count(uncut, activityDays + UNCUT_DAYS);
  if (open === 0 && old === 0) {
    return {
      about,
      status: 'ok',
      message: 'Sealing and retention of the logs are up to date.',
      remedy: null,
    };
  }
  return {
    about,
    status: 'warning',
    message:
      open > 0
        ? `Accounts with unsealed entries older than ${UNSEALED_HOURS} hours: ${open}.`
        : `Accounts whose logs go back more than ${UNCUT_DAYS} days beyond DBVITALS_ACTIVITY_DAYS: ${old}.`,
    remedy:
      'The service does this every hour: search its log for "seal" and "retention", or see dbvitals_retention_failures_total. To seal now, run "dbvitals activity seal".',
  };
}
