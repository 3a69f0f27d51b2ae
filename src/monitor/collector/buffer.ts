import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Logger } from 'pino';
import type { ReportedMeasured } from '../collected/accept-measured.ts';
import type { PastResult } from '../collected/store-past.ts';

const FILE = 'collector-buffer.db';
const PAGE = 4_096;
const KEPT_MS = 24 * 3_600_000;
/** SQLite's numbers of its errors. */
const [CORRUPT, FULL, NOT_A_DATABASE] = [11, 13, 26];
/** How many of the oldest results make room for a new one in a full file. */
const ROOM = 20;

/** The largest delivery, unpacked and without the frame of the message, and the most results in it. */
const LARGEST_BYTES = 3 * 1024 * 1024;
const MOST_RESULTS = 50;

const SCHEMA = `
  create table if not exists result (
    id integer primary key, connection text not null, at integer not null, bytes integer not null, report blob not null
  ) strict;
  create table if not exists plan (connection text primary key, job text not null, began integer) strict`;

/** A result that waits for delivery. */
export interface BufferedResult {
  id: number;
  result: PastResult;
}

/** What is known of a connection for as long as the service is away. */
export interface StoredPlan {
  connection: string;
  /** JSON. */
  job: string;
  /** When it was measured last: milliseconds since 1970. Null = not yet. */
  began: number | null;
}

type Statements = ReturnType<typeof prepare>;

/**
 * The results that could not be delivered, and the last jobs, in a file of a bounded size that only this user can read. SQLite commits
 * each result with `fsync`, so it survives a kill, a torn write and a full disk. A file that is damaged is set aside, and one that cannot
 * be written costs results, never the measuring: nothing here throws.
 */
export class ResultBuffer {
  readonly #folder: string;
  readonly #largest: number;
  readonly #log: Pick<Logger, 'warn' | 'error'>;
  #database: DatabaseSync | null = null;
  #statements: Statements | null = null;
  /** What was logged last, so that a disk that stays full is logged once. */
  #problem: string | null = null;

  constructor(folder: string, largest: number, log: Pick<Logger, 'warn' | 'error'>) {
    this.#folder = folder;
    this.#largest = largest;
    this.#log = log;
    this.#open();
  }

  /** Keeps a result. The oldest ones make room. False if it could not be kept. */
  add(connection: string, at: number, measured: ReportedMeasured): boolean {
    const text = JSON.stringify(measured);
    const report = gzipSync(text);
    const isKept = this.#try((statements) => {
      statements.expire.run(at - KEPT_MS);
      for (let left = ROOM; ; left--) {
        try {
          statements.add.run(connection, at, Buffer.byteLength(text), report);
          return true;
        } catch (error) {
          if (codeOf(error) !== FULL || left === 0 || statements.makeRoom.run(ROOM).changes === 0)
            throw error;
        }
      }
    });
    return isKept ?? false;
  }

  /** The oldest results that fit into one delivery, in the order of measurement. */
  next(most = MOST_RESULTS): BufferedResult[] {
    const rows = this.#try(({ oldest }) => oldest.all(most)) ?? [];
    const results: BufferedResult[] = [];
    let bytes = 0;
    for (const { id, connection, at, bytes: size, report } of rows) {
      bytes += Number(size);
      if (results.length > 0 && bytes > LARGEST_BYTES) break;
      const measured = unpack(report as Uint8Array);
      if (measured === null) this.#drop(Number(id), String(connection));
      else
        results.push({
          id: Number(id),
          result: { connection: String(connection), at: Number(at), measured },
        });
    }
    return results;
  }

  /** SQLite does not see that the content of a row was damaged. */
  #drop(id: number, connection: string): void {
    if (this.#try(({ remove }) => remove.run(id)))
      this.#log.error({ connection }, 'a kept health check was damaged, and is dropped');
  }

  /** Forgets results that were delivered. */
  remove(results: readonly BufferedResult[]): void {
    this.#try(({ remove }) => {
      for (const { id } of results) remove.run(id);
    });
  }

  /** How many results wait, and how old the oldest is. */
  size(now = Date.now()): { results: number; seconds: number } {
    const row = this.#try(({ count }) => count.get());
    const oldest = Number(row?.['oldest'] ?? now);
    return { results: Number(row?.['results'] ?? 0), seconds: Math.max(0, (now - oldest) / 1_000) };
  }

  /** The plans of the collector's run before. */
  plans(): StoredPlan[] {
    const rows = this.#try(({ plans }) => plans.all()) ?? [];
    return rows.map(({ connection, job, began }) => ({
      connection: String(connection),
      job: String(job),
      began: began === null ? null : Number(began),
    }));
  }

  keepPlan({ connection, job, began }: StoredPlan): void {
    this.#try(({ keepPlan }) => keepPlan.run(connection, job, began));
  }

  dropPlan(connection: string): void {
    this.#try(({ dropPlan }) => dropPlan.run(connection));
  }

  close(): void {
    this.#database?.close();
    this.#database = null;
    this.#statements = null;
  }

  #open(): void {
    const path = join(this.#folder, FILE);
    try {
      this.#connect(path);
    } catch (error) {
      if (isDamaged(error)) this.#setAside(path);
      else this.#note(error);
    }
  }

  #setAside(path: string): void {
    try {
      this.close();
      renameSync(path, `${path}.damaged`);
      rmSync(`${path}-journal`, { force: true });
      this.#log.error(
        { path: `${path}.damaged` },
        'the buffer was damaged: it was set aside, and a new one begun',
      );
      this.#connect(path);
    } catch (error) {
      this.#note(error);
    }
  }

  #connect(path: string): void {
    closeSync(openSync(path, 'a', 0o600)); // SQLite gives its journal the same mode
    const database = new DatabaseSync(path);
    try {
      database.exec(`
        pragma page_size = ${PAGE};
        pragma auto_vacuum = full;
        pragma journal_mode = delete;
        pragma synchronous = full;
        pragma cache_size = -1000;
        pragma max_page_count = ${Math.floor(this.#largest / PAGE)};`);
      const [check] = database.prepare('pragma quick_check(1)').all();
      if (check?.['quick_check'] !== 'ok') throw new DamagedBuffer();
      database.exec(SCHEMA);
      this.#statements = prepare(database);
      this.#database = database;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  #try<T>(work: (statements: Statements) => T): T | null {
    if (!this.#statements) this.#open();
    if (!this.#statements) return null;
    try {
      const result = work(this.#statements);
      this.#problem = null;
      return result;
    } catch (error) {
      if (isDamaged(error)) this.#setAside(join(this.#folder, FILE));
      else this.#note(error);
      return null;
    }
  }

  #note(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason === this.#problem) return;
    this.#problem = reason;
    this.#log.warn({ reason }, 'the buffer can not be used: results that are not delivered are lost');
  }
}

class DamagedBuffer extends Error {}

/** Null if it is no report. */
function unpack(report: Uint8Array): ReportedMeasured | null {
  try {
    return JSON.parse(gunzipSync(report).toString());
  } catch {
    return null;
  }
}

function prepare(
  database: DatabaseSync,
): Record<
  'add' | 'expire' | 'makeRoom' | 'oldest' | 'remove' | 'count' | 'plans' | 'keepPlan' | 'dropPlan',
  StatementSync
> {
  return {
    add: database.prepare('insert into result (connection, at, bytes, report) values (?, ?, ?, ?)'),
    expire: database.prepare('delete from result where at < ?'),
    makeRoom: database.prepare('delete from result where id in (select id from result order by id limit ?)'),
    oldest: database.prepare('select id, connection, at, bytes, report from result order by id limit ?'),
    remove: database.prepare('delete from result where id = ?'),
    count: database.prepare('select count(*) as results, min(at) as oldest from result'),
    plans: database.prepare('select connection, job, began from plan'),
    keepPlan: database.prepare('insert or replace into plan (connection, job, began) values (?, ?, ?)'),
    dropPlan: database.prepare('delete from plan where connection = ?'),
  };
}

function isDamaged(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof DamagedBuffer || code === CORRUPT || code === NOT_A_DATABASE;
}

/** SQLite's primary error number. */
function codeOf(error: unknown): number | null {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : null;
  return typeof code === 'number' ? code & 0xff : null;
}
