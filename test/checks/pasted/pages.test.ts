import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pasteableOn } from '../../support/page-statements.ts';
import { paste } from '../paste.ts';
import { PostgresServer } from '../postgres-server.ts';
import { run } from './named-case.ts';

const ORDERS =
  'create table orders (id serial primary key, number int, customer int, placed date, note text)';
const OLD_TRANSACTION = ['create table orders ()', `begin; lock table orders; prepare transaction 'order 7'`];
const STATISTICS = ['drop extension if exists pg_stat_statements', 'create extension pg_stat_statements'];
const SLOT = [`select pg_create_physical_replication_slot('north')`];

/** What the examples of a page are about. The schema `public` is empty before. */
const FIXTURES: Readonly<Record<string, readonly string[]>> = {
  PG_BLOCKED_SESSIONS: OLD_TRANSACTION,
  PG_DEADLOCKS: [ORDERS],
  PG_COLLATION_VERSION: [`create collation "German" (provider = icu, locale = 'de')`],
  PG_DATABASE_INVALID: ['drop database if exists half_gone', 'create database half_gone'],
  PG_DATABASE_LEFT_OUT: ['drop database if exists private', 'create database private'],
  PG_EVENT_TRIGGER_DISABLED: [
    `create function refuse() returns event_trigger language plpgsql as 'begin end'`,
    'create event trigger no_drops on sql_drop execute function refuse()',
  ],
  PG_DEAD_TUPLES: [ORDERS],
  PG_DISABLED_TRIGGER: [
    'create table parcels ()',
    `create function weigh() returns trigger language plpgsql as 'begin return new; end'`,
    'create trigger weigh before insert on parcels execute function weigh()',
    'alter table parcels disable trigger weigh',
  ],
  PG_DUPLICATE_INDEX: [ORDERS, 'create index orders_placed_again on orders (placed)'],
  PG_EXTENSION_OUTDATED: [`create extension pg_trgm version '1.3'`],
  PG_FK_TYPE_MISMATCH: ['create table trips (route int)'],
  PG_FK_UNINDEXED: [ORDERS],
  PG_INDEX_BLOAT_EST: [ORDERS, 'create index orders_placed_idx on orders (placed)'],
  PG_INVALID_CONSTRAINT: [
    'create table fares (price int)',
    'alter table fares add constraint fares_price_check check (price > 0) not valid',
  ],
  PG_INVALID_INDEX: [
    ORDERS,
    'create index orders_number on orders (number)',
    'create index orders_number_ccnew on orders (number)',
    'create table visits (day date) partition by range (day)',
    `create table visits_2027 partition of visits for values from ('2027-01-01') to ('2028-01-01')`,
    'create index visits_day on visits (day)',
  ],
  PG_MIXED_COLLATIONS: ['create table bills (payer_code text)'],
  PG_NO_PRIMARY_KEY: ['create table notes (id int not null)'],
  PG_PGSS_MISSING: ['drop extension if exists pg_stat_statements'],
  PG_PREPARED_XACT_OLD: OLD_TRANSACTION,
  PG_PRIVILEGE_MISSING: ['drop role if exists dbvitals', 'create role dbvitals'],
  PG_QUERY_NEW: STATISTICS,
  PG_QUERY_READS: STATISTICS,
  PG_QUERY_SLOWER: STATISTICS,
  PG_REDUNDANT_INDEX: [ORDERS, 'create index orders_customer_idx on orders (customer)'],
  PG_SECDEF_SEARCH_PATH: [
    `create function total(integer) returns int language sql security definer as 'select 1'`,
  ],
  PG_SEQUENCE_EXHAUSTION: [ORDERS],
  PG_SEQ_SCAN_HEAVY: [ORDERS],
  PG_SLOT_INACTIVE: SLOT,
  PG_SLOT_WAL_LEFT: SLOT,
  PG_SLOW_QUERIES: STATISTICS,
  PG_STALE_STATS: [ORDERS],
  PG_SUBSCRIPTION_STOPPED: [
    'drop subscription if exists from_north',
    `create subscription from_north connection 'host=/nowhere' publication p with (connect = false)`,
  ],
  PG_TABLE_AUTOVACUUM_OFF: ['create table logs () with (autovacuum_enabled = off)'],
  PG_TABLE_BLOAT_EST: [ORDERS],
  PG_TOO_MANY_INDEXES: [ORDERS],
  PG_UNLOGGED_TABLE: ['create unlogged table scratch ()'],
  PG_UNUSED_INDEX: [ORDERS, 'create index orders_note_idx on orders (note)'],
};

/** What must come before a statement, where a page shows one or the other. */
const BETWEEN: Readonly<Record<string, string>> = {
  'ALTER TABLE public.notes ADD COLUMN id bigserial, ADD PRIMARY KEY (id);':
    'drop table notes; create table notes ()',
};

/** Lines that are not SQL. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  PG_PASSWORD_EXPIRING: ['\\password app'],
  PG_PENDING_RESTART: ['systemctl restart postgresql'],
  PG_TABLE_BLOAT_EST: ['pg_repack --table public.orders shop             # online'],
};

/** Pages whose statements only a standby takes, and the test that pastes the same from the finding. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  PG_REPLAY_PAUSED: '../replication.test.ts',
  PG_STANDBY_CUT_OFF: '../replication.test.ts',
};

/** Statements that only some versions know. */
const SINCE: readonly (readonly [RegExp, number])[] = [
  [/^EXPLAIN \(GENERIC_PLAN\)/, 160_000],
  [/datcollversion|REFRESH COLLATION VERSION/, 150_000],
  [/^ALTER USER .* IDENTIFIED BY/, Number.POSITIVE_INFINITY], // of MySQL
];

let server: PostgresServer;
let version = 0;
beforeAll(async () => {
  server = await PostgresServer.start();
  await server.pause();
  await server.resume({ max_wal_senders: '5' });
  const [row] = await server.run('show server_version_num');
  version = Number(row?.['server_version_num']);
});
afterAll(() => server.stop());

const pages = readdirSync(join(import.meta.dirname, '../../../docs/checks'))
  .map((file) => file.replace('.md', ''))
  .filter((id) => /^(?:PG|CONN)_/.test(id) && !Object.hasOwn(ELSEWHERE, id));

test.each(pages)('%s: each statement of the page works as it is', async (id) => {
  const { statements, others } = pasteableOn(id);
  expect(others).toEqual(OTHERS[id] ?? []);
  await run(server, 'drop schema public cascade', 'create schema public', ...(FIXTURES[id] ?? []));
  for (const statement of statements) {
    if (SINCE.some(([shape, since]) => shape.test(statement) && version < since)) continue;
    if (BETWEEN[statement]) await server.run(BETWEEN[statement]);
    // The only gap is that for a query.
    await paste(server, statement.replace(/^EXPLAIN (.*)…;$/, 'EXPLAIN $1SELECT 1;'));
  }
});

test('what no server takes here is pasted by another test', () => {
  for (const [id, file] of Object.entries(ELSEWHERE)) {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8');
    expect([id, text.includes(id), /\b(?:paste|follow)\(/.test(text)]).toEqual([id, true, true]);
  }
});
