import pg from 'pg';
import { follow } from './paste.ts';
import { PASSWORD, type PostgresServer } from './postgres-server.ts';
import type { Provocation } from './provocations.ts';

/** Provocations of the checks of schema, configuration and security. */
export const schemaAndSettings: Provocation[] = [
  {
    check_id: 'PG_INVALID_CONSTRAINT',
    severity: 'warning',
    object: 'public."Fares"."not free"',
    provoke: made(
      'create table "Fares" (id int primary key, price int)',
      'insert into "Fares" values (1, 5)',
      'alter table "Fares" add constraint "not free" check (price > 0) not valid',
    ),
  },
  {
    check_id: 'PG_DISABLED_TRIGGER',
    severity: 'warning',
    object: 'public.parcels."Weigh"',
    provoke: made(
      'create table parcels (id int primary key)',
      'create trigger "Weigh" before update on parcels for each row execute function suppress_redundant_updates_trigger()',
      'alter table parcels disable trigger "Weigh"',
    ),
  },
  {
    check_id: 'PG_UNLOGGED_TABLE',
    severity: 'info',
    object: 'public.scratch',
    provoke: made('create unlogged table scratch (id int primary key)'),
  },
  {
    check_id: 'PG_FK_TYPE_MISMATCH',
    severity: 'info',
    object: 'public.trips.trips_route_fkey',
    thresholds: { minimum_rows: 0 },
    provoke: made(
      'create table routes (id bigint primary key)',
      'create table trips (id int primary key, route int references routes)',
      'create index on trips (route)',
    ),
  },
  {
    check_id: 'PG_MIXED_COLLATIONS',
    severity: 'info',
    object: 'public',
    thresholds: { minimum_rows: 0 },
    async provoke(server) {
      await server.run('create table payers (payer_code text collate "C" primary key)');
      await server.run('create table bills (id int primary key, payer_code text)');
      return async () => {
        await server.run('alter table bills alter payer_code type text collate "C"');
      };
    },
  },
  {
    check_id: 'PG_PENDING_RESTART',
    severity: 'warning',
    object: 'max_locks_per_transaction',
    async provoke(server) {
      await server.run(`ALTER SYSTEM SET max_locks_per_transaction = 65; SELECT pg_reload_conf()`);
      await server.until('select bool_or(pending_restart) from pg_settings');
      return () => server.restart();
    },
  },
  {
    check_id: 'PG_PLANNER_OFF',
    severity: 'info',
    object: 'enable_hashjoin',
    async provoke(server) {
      await server.configure(
        'ALTER SYSTEM SET enable_hashjoin = off; SELECT pg_reload_conf()',
        'enable_hashjoin',
        'off',
      );
      return async (remediation) => {
        await follow(server, remediation);
        await server.until(`select current_setting('enable_hashjoin') = 'on'`);
      };
    },
  },
  ...[
    ['alter role app', 'enable_seqscan of role app'],
    ['alter role app in database shop', 'enable_seqscan of role app in database shop'],
    ['alter database shop', 'enable_seqscan of database shop'],
  ].map(
    ([owner, object = '']): Provocation => ({
      check_id: 'PG_PLANNER_OFF',
      severity: 'info',
      object,
      provoke: made(`${owner} set enable_seqscan = false`),
    }),
  ),
  {
    check_id: 'PG_EXTENSION_OUTDATED',
    severity: 'info',
    object: 'pg_trgm',
    provoke: made(`create extension pg_trgm version '1.3'`),
  },
  {
    check_id: 'PG_NO_TLS',
    severity: 'warning',
    object: 'shop/app/"web 1"',
    async provoke(server) {
      const host = await server.restartOnNetwork();
      const { port, database } = server;
      const session = new pg.Client({
        host,
        port,
        database,
        user: 'app',
        password: PASSWORD,
        application_name: 'web 1',
      });
      session.on('error', () => {});
      await session.connect();
      return async () => {
        await session.end();
        await server.restart();
      };
    },
  },
  {
    check_id: 'PG_PASSWORD_EXPIRING',
    severity: 'warning',
    object: 'app',
    async provoke(server) {
      await server.run(`
        do $$ begin execute format('alter role app valid until %L', now() + interval '6 days'); end $$`);
      return fixedBy(server);
    },
  },
  {
    check_id: 'PG_PUBLIC_CREATE',
    severity: 'warning',
    object: 'public',
    provoke: made('grant create on schema public to public'),
  },
  {
    check_id: 'PG_SECDEF_SEARCH_PATH',
    severity: 'warning',
    object: 'public."Total"(integer,text)',
    provoke: made(
      `create function "Total" (int, text) returns int language sql security definer as 'select 1'`,
    ),
  },
];

function made(...statements: string[]): Provocation['provoke'] {
  return async (server) => {
    for (const statement of statements) await server.run(statement);
    return fixedBy(server);
  };
}

function fixedBy(server: PostgresServer): (remediation: string) => Promise<void> {
  return async (remediation) => {
    await follow(server, remediation);
  };
}
