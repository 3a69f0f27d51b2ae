import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type pg from 'pg';
import { inTransaction } from '../../store/connect.ts';
import { within } from '../../store/read.ts';
import { type SealWithLeaves, sealHash } from './seal.ts';
import { parseSealLine, sealLine } from './seal-line.ts';
import { storedSeal } from './stored-seals.ts';

// The lock for appending to the file, which several processes may share. The number is arbitrary.
const APPENDING = 5_808;
const BYTES_A_READ = 1 << 20;

const lockAppending = `select pg_advisory_xact_lock(${APPENDING})`;

const latestNumbers = `
  select h.account_id, s.number
    from activity_head h
    join account a on a.account_id = h.account_id and a.is_here
    join lateral (select number from activity_seal s
                   where s.account_id = h.account_id order by number desc limit 1) s on true
   order by h.account_id`;

/** The number of an account's latest seal in the store. */
interface Latest {
  account_id: number;
  number: number;
}

/** A file of seals outside the store, which an attacker who rewrites the store does not control. */
export interface SealFile {
  /**
   * Appends each seal that the file lacks, and syncs it to disk. Returns the accounts whose seals in the store differ
   * from the file; it appends none of theirs. It reads what other processes or a crash left in the file.
   */
  append(owner: pg.Pool): Promise<number[]>;
}

/**
 * Opens the file of DBVITALS_SEAL_FILE. Creates it (mode 0600) if it does not exist or was moved away. Processes take turns by
 * a lock in the store, or in that of `turns`, where several cells share the file.
 */
export function openSealFile(path: string, turns: pg.Pool | null = null): SealFile {
  return new AppendedSealFile(path, turns);
}

class AppendedSealFile implements SealFile {
  readonly #path: string;
  readonly #turns: pg.Pool | null;
  /** The last seal in the file, by account. */
  readonly #held = new Map<number, { number: number; hash: string }>();
  #read = { ino: -1, offset: 0 };

  constructor(path: string, turns: pg.Pool | null) {
    this.#path = path;
    this.#turns = turns;
  }

  append(owner: pg.Pool): Promise<number[]> {
    if (this.#turns === null) return this.#appendAlone(owner);
    return inTransaction(this.#turns, async (client) => {
      await client.query(lockAppending);
      return this.#appendAlone(owner);
    });
  }

  /** Appends in the turn that the caller has. */
  #appendAlone(owner: pg.Pool): Promise<number[]> {
    return inTransaction(owner, async (client) => {
      if (this.#turns === null) await client.query(lockAppending);
      const file = await open(this.#path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
      const mismatched: number[] = [];
      try {
        if (await this.#catchUp(file)) await file.appendFile('\n');
        const { rows } = await client.query<Latest>(latestNumbers);
        for (const latest of rows) {
          if (!(await this.#appendNew(client, file, latest))) mismatched.push(latest.account_id);
        }
        await file.datasync();
        this.#read.offset = (await file.stat()).size;
      } finally {
        await file.close();
      }
      return mismatched;
    });
  }

  /** Appends the seals of an account that the file lacks; false if those that it has differ from the store's. */
  async #appendNew(
    client: pg.ClientBase,
    file: FileHandle,
    { account_id, number }: Latest,
  ): Promise<boolean> {
    const last = this.#held.get(account_id);
    const same = last && (await storedSeal(within(client), account_id, last.number));
    if (last && (!same || sealHash(same.seal) !== last.hash)) return false;
    for (let next = (last?.number ?? 0) + 1; next <= number; next += 1) {
      const sealed = await storedSeal(within(client), account_id, next);
      if (sealed) await file.appendFile(sealLine(sealed));
      this.#note(sealed);
    }
    return true;
  }

  /** Reads what was appended since the last call; true if the last line is incomplete. */
  async #catchUp(file: FileHandle): Promise<boolean> {
    const { ino, size } = await file.stat();
    if (ino !== this.#read.ino || size < this.#read.offset) {
      this.#held.clear();
      this.#read = { ino, offset: 0 };
    }
    let rest = Buffer.alloc(0);
    for (let at = this.#read.offset; at < size; ) {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(BYTES_A_READ), position: at });
      if (bytesRead === 0) break;
      at += bytesRead;
      rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        this.#note(parseSealLine(rest.toString('utf8', 0, end)));
        rest = rest.subarray(end + 1);
      }
    }
    this.#read.offset = size - rest.length;
    return rest.length > 0;
  }

  #note(sealed: SealWithLeaves | null): void {
    if (!sealed) return;
    const { account_id, number } = sealed.seal;
    if (number > (this.#held.get(account_id)?.number ?? 0))
      this.#held.set(account_id, { number, hash: sealHash(sealed.seal) });
  }
}
