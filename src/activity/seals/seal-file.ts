import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type pg from 'pg';
import { inTransaction } from '../../database/connect.ts';
import { within } from '../../database/read.ts';
import { type SealWithLeaves, sealHash } from './seal.ts';
import { parseSealLine, sealLine } from './seal-line.ts';
import { storedSeal } from './stored-seals.ts';

// Any number: who of several processes with one file appends to it.
const APPENDING = 5_808;
const BYTES_A_READ = 1 << 20;

const lockAppending = `select pg_advisory_xact_lock(${APPENDING})`;

const latestNumbers = `
  select h.account_id, s.number
    from activity_head h
    join lateral (select number from activity_seal s
                   where s.account_id = h.account_id order by number desc limit 1) s on true
   order by h.account_id`;

/** Where seals are kept outside of the store: whoever rewrites both store and seals does not rewrite it. */
export interface SealFile {
  /**
   * Appends each seal that the file lacks, on disk when it returns, and gives the accounts whose seals in the store are not
   * those of the file: nothing is appended of them. What a crash or another process left in the file is seen.
   */
  append(owner: pg.Pool): Promise<number[]>;
}

/** The file of DBVITALS_SEAL_FILE, made (mode 0600) when it is not there; one that was moved away is begun anew. */
export function openSealFile(path: string): SealFile {
  // By account, the last seal that the file holds.
  const held = new Map<number, { number: number; hash: string }>();
  let read = { ino: -1, offset: 0 };

  /** Reads what was appended since; true when the last line was torn. */
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

  return {
    append: (owner) =>
      inTransaction(owner, async (client) => {
        await client.query(lockAppending);
        const file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
        const strange: number[] = [];
        try {
          if (await catchUp(file)) await file.appendFile('\n');
          const { rows } = await client.query<{ account_id: number; number: number }>(latestNumbers);
          for (const { account_id, number } of rows) {
            const last = held.get(account_id);
            const same = last && (await storedSeal(within(client), account_id, last.number));
            if (last && (!same || sealHash(same.seal) !== last.hash)) strange.push(account_id);
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
        return strange;
      }),
  };
}
