import { generateKeyPairSync, hash } from 'node:crypto';
import type pg from 'pg';
import { type CanonicalEntry, entriesBetween, leafOf } from '../canonical-entry.ts';
import { rawPublicKey, type SealRow, sealColumns, sealHash, sealOf, signSeal } from './seal.ts';

/** How the owner of the database can change an account's log: as the superuser, who bypasses privileges and policies. */
export interface Tampering {
  /** Runs a statement in which ACCOUNT stands for the account. */
  run(statement: string): Promise<unknown>;
  /** Swaps the entries of two positions. */
  swap(one: number, other: number): Promise<unknown>;
  /** Moves the entries from `first` on by `by` positions. */
  shift(first: number, by: number): Promise<unknown>;
  /** Makes every seal from `number` on again from the store's entries, with an attacker's key. */
  forge(number: number, inNameOfOurKey?: boolean): Promise<void>;
}

/** The condition for one entry of the account. */
export const at = (id: number) => `where account_id = ACCOUNT and id = ${id}`;

/** Tampers with an account's log, by a connection of the superuser. */
export function tamperWith(root: pg.Client, accountId: number): Tampering {
  return {
    run: (statement) => root.query(statement.replaceAll('ACCOUNT', String(accountId))),
    swap: (one, other) =>
      root.query(
        `update activity set id = -id where account_id = ${accountId} and id in (${one}, ${other});
         update activity set id = case id when -${one} then ${other} else ${one} end
          where account_id = ${accountId} and id in (-${one}, -${other})`,
      ),
    shift: (first, by) =>
      root.query(
        `update activity set id = -id where account_id = ${accountId} and id >= ${first};
         update activity set id = -id + ${by} where account_id = ${accountId} and id < 0`,
      ),
    forge: (number, inNameOfOurKey = false) => forge(root, accountId, number, inNameOfOurKey),
  };
}

async function forge(
  root: pg.Client,
  accountId: number,
  number: number,
  inNameOfOurKey: boolean,
): Promise<void> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { rows } = await root.query(
    `select ${sealColumns} from activity_seal s where account_id = $1 order by number`,
    [accountId],
  );
  let previous: string | null = null;
  for (const row of rows as SealRow[]) {
    const { seal: signed } = sealOf(row);
    if (row.number >= number) {
      const entries = await root.query(entriesBetween, [accountId, row.first_id, row.last_id]);
      const leaves = Buffer.concat((entries.rows as CanonicalEntry[]).map(leafOf));
      signed.leaves_sha256 = hash('sha256', leaves);
      if (previous !== null) signed.previous = previous;
      if (!inNameOfOurKey) signed.public_key = rawPublicKey(privateKey);
      const { signature } = signSeal(signed, privateKey);
      await root.query(
        `update activity_seal set leaves_sha256 = decode($3, 'hex'), previous = decode($4, 'hex'),
                public_key = decode($5, 'hex'), signature = decode($6, 'hex') where account_id = $1 and number = $2`,
        [accountId, row.number, signed.leaves_sha256, signed.previous, signed.public_key, signature],
      );
      await root.query('update activity_leaves set leaves = $3 where account_id = $1 and last_id = $2', [
        accountId,
        row.last_id,
        leaves,
      ]);
    }
    previous = sealHash(signed);
  }
}

/** Each way to tamper with a log of ten seals over 30 entries each, the entry that it is found at, and what is found. */
export const TAMPERINGS: [string, (log: Tampering) => Promise<unknown>, number, string][] = [
  ['a path is changed', ({ run }) => run(`update activity set page_path = '/x' ${at(47)}`), 47, 'edited'],
  ['a status is changed', ({ run }) => run(`update activity set status = 404 ${at(61)}`), 61, 'edited'],
  [
    'a microsecond is added',
    ({ run }) => run(`update activity set occurred_at = occurred_at + interval '1 microsecond' ${at(90)}`),
    90,
    'edited',
  ],
  [
    'an event is renumbered',
    ({ run }) => run(`update activity set event_number = 999 ${at(100)}`),
    100,
    'edited',
  ],
  [
    'a property is added',
    ({ run }) => run(`update activity set properties = '{"score": 1}' ${at(10)}`),
    10,
    'edited',
  ],
  ['the first is deleted', ({ run }) => run(`delete from activity ${at(1)}`), 1, 'deleted'],
  ['one is deleted', ({ run }) => run(`delete from activity ${at(150)}`), 150, 'deleted'],
  ['the last is deleted', ({ run }) => run(`delete from activity ${at(300)}`), 300, 'deleted'],
  [
    'one is deleted and the others close up',
    ({ run, shift }) => run(`delete from activity ${at(120)}`).then(() => shift(121, -1)),
    120,
    'deleted',
  ],
  [
    'one is put in and the others make room',
    ({ run, shift }) =>
      shift(210, 1).then(() =>
        run(
          `insert into activity (account_id, id, occurred_at, action_type, page_path) select account_id, 210, occurred_at, 'api_request', '/x' from activity ${at(209)}`,
        ),
      ),
    210,
    'inserted',
  ],
  [
    'one is put before the first',
    ({ run }) =>
      run(
        `insert into activity (account_id, id, occurred_at, action_type, page_path) values (ACCOUNT, -3, now(), 'api_request', '/x')`,
      ),
    -3,
    'inserted',
  ],
  ['two are swapped', ({ swap }) => swap(17, 18), 17, 'reordered'],
  ['two are swapped over seals', ({ swap }) => swap(29, 281), 29, 'reordered'],
  [
    'the log is emptied, as if retention had cut it',
    ({ run }) =>
      run(
        `delete from activity where account_id = ACCOUNT; insert into activity_floor values (ACCOUNT, 301, 30)`,
      ),
    1,
    'deleted',
  ],
  [
    'a cut is made up',
    ({ run }) =>
      run(
        `delete from activity where account_id = ACCOUNT and id <= 60; update activity_seal set cut_to = 60 where account_id = ACCOUNT and number = 10`,
      ),
    1,
    'deleted',
  ],
  [
    'a seal is changed',
    ({ run }) =>
      run(
        `update activity_seal set sealed_at = sealed_at + interval '1 s' where account_id = ACCOUNT and number = 4`,
      ),
    91,
    'seal forged',
  ],
  [
    'the hashes of a seal are changed',
    ({ run }) =>
      run(`update activity_leaves set leaves = sha256('x') where account_id = ACCOUNT and last_id = 90`),
    61,
    'seal forged',
  ],
  [
    'a seal is taken out',
    ({ run }) => run(`delete from activity_seal where account_id = ACCOUNT and number = 3`),
    61,
    'seal missing',
  ],
  [
    'the first seal is taken out',
    ({ run }) => run(`delete from activity_seal where account_id = ACCOUNT and number = 1`),
    1,
    'seal missing',
  ],
  [
    'an entry is changed and sealed with another key',
    ({ run, forge }) => run(`update activity set page_path = '/x' ${at(47)}`).then(() => forge(2)),
    31,
    'seal forged',
  ],
  [
    'an entry is changed and the chain made anew, signed in the name of our key',
    ({ run, forge }) => run(`update activity set page_path = '/x' ${at(47)}`).then(() => forge(2, true)),
    31,
    'seal forged',
  ],
  [
    'the key is exchanged too',
    ({ run, forge }) =>
      forge(1).then(() =>
        run(
          `update seal_key set public_key = (select public_key from activity_seal where account_id = ACCOUNT limit 1)`,
        ),
      ),
    1,
    'seal forged',
  ],
];
