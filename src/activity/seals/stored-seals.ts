import type { Read } from '../../database/read.ts';
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
