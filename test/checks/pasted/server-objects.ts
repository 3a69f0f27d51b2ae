import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Thresholds } from '../../../src/checks/check.ts';
import { follow, paste } from '../paste.ts';
import { PASSWORD } from '../postgres-server.ts';
import {
  inDatabase,
  literal,
  type NamedCase,
  type Naming,
  quoting,
  run,
  settings,
  until,
} from './named-case.ts';

/** A database whose ids are old; `column` and `next` say which. */
function wraparound(check_id: string, [column, next]: [string, string], closed: boolean): NamedCase {
  return {
    check_id,
    kind: closed ? 'database that accepts no connection' : 'database',
    make: async (server, name) => {
      const d = quoting(name)('d');
      await run(server, `create database ${d}`);
      if (closed) await run(server, `alter database ${d} with allow_connections false`);
      // 1.3 billion back, on the circle of 2^32.
      await run(
        server,
        `
        update pg_database
           set ${column} = (((${next})::text::bigint + 4294967296 - 1300000000) % 4294967296)::text::xid
         where datname = ${literal(name('d'))}`,
      );
      return {
        mend: (remediation) =>
          closed
            ? inDatabase(server, remediation, name('d'))
            : paste(server, remediation, name('d')).then(() => {}),
        after: async () => {
          const [row] = await run(
            server,
            `select datallowconn as open from pg_database where datname = ${literal(name('d'))}`,
          );
          expect(row?.['open']).toBe(!closed);
        },
        end: async () => void (await run(server, `drop database ${d}`)),
      };
    },
  };
}

/** A setting of a role, of a database, or of both. */
function ownSetting(kind: string, owner: (q: Naming) => string): NamedCase {
  return {
    check_id: 'PG_PLANNER_OFF',
    kind,
    make: async (server, name) => {
      const q = quoting(name);
      await run(server, `create role ${q('r')}`);
      await run(server, `create database ${q('d')}`);
      await run(server, `alter ${owner(q)} set enable_seqscan = false`);
      return {
        end: async () => {
          await run(server, `drop database ${q('d')}`);
          await run(server, `drop role ${q('r')}`);
        },
      };
    },
  };
}

/** A slot has a name of lower-case letters, digits and underscores. */
function slot(check_id: string, thresholds: Thresholds): NamedCase {
  return {
    check_id,
    kind: 'slot',
    thresholds,
    make: async (server, name) => {
      const slotName = name('a')
        .toLowerCase()
        .replace(/[^a-z0-9]/g, (character) => (character < ' ' ? '0' : '_'));
      await server.configure(
        `ALTER SYSTEM SET max_slot_wal_keep_size = '64MB'; SELECT pg_reload_conf()`,
        'max_slot_wal_keep_size',
        '64MB',
      );
      await run(server, `select pg_create_physical_replication_slot('${slotName}', true)`);
      // More than the segment that the server keeps anyway.
      if (check_id === 'PG_SLOT_INACTIVE')
        await run(server, `select pg_logical_emit_message(true, 'test', repeat('x', 20 * 1024 * 1024))`);
      const held = `from pg_replication_slots where slot_name = '${slotName}'`;
      return {
        end: async () => void (await run(server, `select pg_drop_replication_slot(slot_name) ${held}`)),
      };
    },
  };
}

/** Cases of what belongs to the whole server, and of extensions. */
export const serverObjects: NamedCase[] = [
  ...[false, true].flatMap((closed) => [
    wraparound('PG_XID_WRAPAROUND', ['datfrozenxid', 'txid_current()'], closed),
    wraparound(
      'PG_MXID_WRAPAROUND',
      ['datminmxid', 'select next_multixact_id from pg_control_checkpoint()'],
      closed,
    ),
  ]),
  ownSetting('role', (q) => `role ${q('r')}`),
  ownSetting('database', (q) => `database ${q('d')}`),
  ownSetting('role in a database', (q) => `role ${q('r')} in database ${q('d')}`),
  {
    check_id: 'PG_TEMP_FILES',
    kind: 'database',
    thresholds: { warning_bytes_per_hour: 100_000_000 }, // 20 MB in what counts as ten minutes
    make: async (server, name) => {
      const d = quoting(name)('d');
      await run(server, `create database ${d}`);
      await (await server.open('postgres', name('d'))).end(); // PostgreSQL 14 counts nothing before
      const counted = (bytes: number) =>
        `select temp_bytes > ${bytes} from pg_stat_database where datname = ${literal(name('d'))}`;
      return {
        load: async () => {
          const client = await server.open('postgres', name('d'));
          await client.query(`set work_mem = '64kB'`);
          await client.query(
            'select count(*) from (select n from generate_series(1, 1500000) n order by n desc) t',
          );
          await client.end();
          await until(server, counted(20_000_000));
        },
        after: async () =>
          expect(await settings(server)).toEqual([
            { database: name('d'), role: null, settings: ['work_mem=8192kB'] },
          ]),
        end: async () => void (await run(server, `drop database ${d} with (force)`)),
      };
    },
  },
  {
    check_id: 'PG_PASSWORD_EXPIRING',
    kind: 'role',
    make: async (server, name) => {
      const r = quoting(name)('r');
      const [row] = await run(server, `select (now() + interval '6 days')::text as soon`);
      await run(server, `create role ${r} login password '${PASSWORD}' valid until '${row?.['soon']}'`);
      return { end: async () => void (await run(server, `drop role ${r}`)) };
    },
  },
  {
    check_id: 'PG_EXTENSION_OUTDATED',
    kind: 'extension',
    from: 180_000, // extension_control_path
    make: async (server, name) => {
      const extension = (base: string) => name(base).replaceAll('--', '- ');
      const folder = join(server.host, 'extras', 'extension');
      mkdirSync(folder, { recursive: true });
      const file = (end: string, text: string) =>
        writeFileSync(join(folder, `${extension('e')}${end}`), text);
      file('.control', "default_version = '2.0'\n");
      file('--1.0.sql', 'create function one() returns int language sql as $$select 1$$;');
      file('--1.0--2.0.sql', 'create function two() returns int language sql as $$select 2$$;');
      execFileSync('chmod', ['-R', 'go+rX', join(server.host, 'extras')]); // whatever the umask
      // The server may enter its own folder only, whose parent belongs to the user who runs the tests.
      const path = '$system:/proc/self/cwd/extras';
      await server.configure(
        `ALTER SYSTEM SET extension_control_path = '${path}'; SELECT pg_reload_conf()`,
        'extension_control_path',
        path,
      );
      const [e, s] = ['e', 's'].map(quoting(extension));
      await run(server, `create schema ${s}`);
      await run(server, `create extension ${e} schema ${s} version '1.0'`);
      return { end: async () => void (await run(server, `drop schema ${s} cascade`)) };
    },
  },
  {
    check_id: 'PG_DATABASE_INVALID',
    kind: 'database',
    make: async (server, name) => {
      const d = quoting(name)('d');
      await run(
        server,
        `create database ${d}`,
        `update pg_database set datconnlimit = -2 where datname = ${literal(name('d'))}`,
      );
      return { end: async () => void (await run(server, `drop database if exists ${d}`)) };
    },
  },
  {
    check_id: 'PG_SUBSCRIPTION_STOPPED',
    kind: 'subscription',
    make: async (server, name) => {
      const u = quoting(name)('u');
      await run(
        server,
        `create subscription ${u} connection 'host=/nowhere' publication p with (connect = false, slot_name = 'u')`,
      );
      const end = async () => {
        const own = `from pg_subscription where subname = ${literal(name('u'))}`;
        if ((await run(server, `select ${own}`)).length === 0) return;
        await run(server, `alter subscription ${u} disable`);
        await run(server, `alter subscription ${u} set (slot_name = none)`, `drop subscription ${u}`);
      };
      return {
        mend: async (remediation) => {
          await follow(server, remediation);
          expect(await run(server, `select subname from pg_subscription where subenabled`)).toEqual([
            { subname: name('u') },
          ]);
          await end();
        },
        end,
      };
    },
  },
  slot('PG_SLOT_INACTIVE', { warning_seconds: 0 }),
  slot('PG_SLOT_WAL_LEFT', { warning: 1.1, critical: 0 }),
];
