import type { Read } from '../../store/read.ts';
import { countAndTexts, readTexts, type TextRow } from '../../store/sql/records.sql.ts';
import { type SealRow, type SealWithLeaves, sealColumns, sealOf } from './seal.ts';

// Each has at most 128 KiB of leaves.
const SEALS_A_READ = 16;

const select = (which: string) => `
  select ${sealColumns}, l.leaves
    from activity_seal s
    left join activity_leaves l
           on l.account_id = s.account_id and l.last_id = s.last_id and s.first_id <= s.last_id
   where s.account_id = $1 and ${which}`;

const sealOfNumber = select('s.number = $2');
const sealsAfter = select(`s.number > $2 order by s.number limit ${SEALS_A_READ}`);

type Row = SealRow & { leaves: Buffer | null };

const withLeaves = ({ leaves, ...row }: Row): SealWithLeaves => ({ ...sealOf(row), leaves });

/** Reads a seal of an account from the store; null if there is none with that number. */
export async function storedSeal(
  read: Read,
  accountId: number,
  number: number,
): Promise<SealWithLeaves | null> {
  const [row] = await read<Row>(sealOfNumber, [accountId, number]);
  return row ? withLeaves(row) : null;
}

/** Reads all seals of an account from the store, by number. */
export async function* storedSeals(read: Read, accountId: number): AsyncGenerator<SealWithLeaves> {
  for (let number: number | undefined = 0; number !== undefined; ) {
    const rows: Row[] = await read<Row>(sealsAfter, [accountId, number]);
    yield* rows.map(withLeaves);
    number = rows.at(-1)?.number;
  }
}

const sealTexts = countAndTexts(
  'select coalesce(max(number), 0) from activity_seal where account_id = $1',
  `
  select account_id, number, first_id, last_id, last_at, cut_to, encode(leaves_sha256, 'hex'), encode(previous, 'hex'),
         encode(public_key, 'hex'), sealed_at, encode(signature, 'hex')
    from activity_seal
   where account_id = $1 and number > $2 and number <= $2::bigint + $3::bigint
   order by number`,
);

/**
 * How many seals the account has, which are numbered from 1, and the `limit` seals after a number. Their texts are the columns of
 * {@link sealColumns}, but times as PostgreSQL writes them.
 */
export function listSealTexts(
  read: Read,
  accountId: number,
  { after, limit }: { after: number; limit: number },
): Promise<[number, TextRow[]]> {
  return readTexts(read, sealTexts, [accountId, after, limit]);
}
