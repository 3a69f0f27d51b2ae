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
  // The last seal in the file, by account.
  const held = new Map<number, { number: number; hash: string }>();
  let read = { ino: -1, offset: 0 };

  /** Reads what was appended since the last call; true if the last line is incomplete. */
  async function catchUp(file: FileHandle): Promise<boolean> {
    const { ino, size } = await file.stat();
    if (ino !== read.ino || size < read.offset) {
      held.clear();
      read = { ino, offset: 0 };
    }
    let rest = Buffer.alloc(0);
    for (let at = read.offset; at < size; ) {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(BYTES_A_READ), position: at });
      if (bytesRead === 0) break;
      at += bytesRead;
      rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        note(parseSealLine(rest.toString('utf8', 0, end)));
        rest = rest.subarray(end + 1);
      }
    }
    read.offset = size - rest.length;
    return rest.length > 0;
  }

  function note(sealed: SealWithLeaves | null): void {
    if (!sealed) return;
    const { account_id, number } = sealed.seal;
    if (number > (held.get(account_id)?.number ?? 0))
      held.set(account_id, { number, hash: sealHash(sealed.seal) });
  }

  /** Appends in the turn that the caller has. */
  const appendAlone = (owner: pg.Pool) =>
    inTransaction(owner, async (client) => {
      if (turns === null) await client.query(lockAppending);
      const file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
      const mismatched: number[] = [];
      try {
        if (await catchUp(file)) await file.appendFile('\n');
        const { rows } = await client.query<{ account_id: number; number: number }>(latestNumbers);
        for (const { account_id, number } of rows) {
          const last = held.get(account_id);
          const same = last && (await storedSeal(within(client), account_id, last.number));
          if (last && (!same || sealHash(same.seal) !== last.hash)) mismatched.push(account_id);
          else {
            for (let next = (last?.number ?? 0) + 1; next <= number; next += 1) {
              const sealed = await storedSeal(within(client), account_id, next);
              if (sealed) await file.appendFile(sealLine(sealed));
              note(sealed);
            }
          }
        }
        await file.datasync();
        read.offset = (await file.stat()).size;
      } finally {
        await file.close();
      }
      return mismatched;
    });

  return {
    append(owner) {
      if (turns === null) return appendAlone(owner);
      return inTransaction(turns, async (client) => {
        await client.query(lockAppending);
        return appendAlone(owner);
      });
    },
  };
}
