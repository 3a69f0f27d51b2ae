import type { Read } from '../../store/read.ts';
import { type CanonicalEntry, entriesBetween, instant } from '../canonical-entry.ts';
import { timeBefore } from './late-entries.ts';
import { isSigned, type SealRow, type SealWithLeaves, type SignedSeal, sealColumns, sealOf } from './seal.ts';
import { readSeals } from './seal-line.ts';
import { storedSeals } from './stored-seals.ts';
import { type Broken, type Claim, type Verified, verifyLog } from './verify-log.ts';

const ENTRIES_A_READ = 4_096;

const bounds = `
  select h.last_id, (select id from activity where account_id = $1 order by id limit 1) as lowest
    from activity_head h
   where h.account_id = $1`;

// The unsealed entries that are older than $3.
const overdue = `
  select f.id as first_id, activity_id_at($1, $3::timestamptz) - 1 as last_id, ${instant('f.occurred_at')} as occurred_at
    from (select id, occurred_at from activity where account_id = $1 and id > $2 order by id limit 1) f
   where f.occurred_at < $3::timestamptz`;

const cuts = `
  select distinct on (cut_to) ${sealColumns} from activity_seal s where account_id = $1 order by cut_to desc, number`;

/**
 * Verifies an account's log in the store. `publicKeys` are those that may have signed, hexadecimal. `exported` is a
 * file of seals (DBVITALS_SEAL_FILE), whose seals take precedence over the store's. `read` reads one snapshot.
 */
export async function verifyStore(
  read: Read,
  accountId: number,
  publicKeys: ReadonlySet<string>,
  exported: string | null,
): Promise<Verified | Broken> {
  const [head] = await read<{ last_id: number; lowest: number | null }>(bounds, [accountId]);
  if (!head) throw new Error(`There is no account ${accountId}.`);
  const { last_id: headId, lowest } = head;
  const ours = ({ seal }: SignedSeal) => seal.account_id === accountId && publicKeys.has(seal.public_key);

  let cutTo = 0;
  const cutRows = await read<SealRow>(cuts, [accountId]);
  const allowed = cutRows.map(sealOf).find((signed) => ours(signed) && isSigned(signed));
  if (allowed) cutTo = allowed.seal.cut_to;
  if (exported !== null) {
    for await (const signed of readSeals(exported)) {
      if (ours(signed) && signed.seal.cut_to > cutTo && isSigned(signed)) cutTo = signed.seal.cut_to;
    }
  }

  const verdict = await verifyLog({
    accountId,
    claims: merge(storedSeals(read, accountId), exported === null ? null : fileSeals(exported, accountId)),
    fromStart: true,
    entries: pager(read, accountId),
    lowest: lowest ?? Number.MAX_SAFE_INTEGER,
    highest: Number.MAX_SAFE_INTEGER,
    cutTo,
    trusts: (publicKey) => publicKeys.has(publicKey),
  });
  if (!verdict.verified) return verdict;
  const waiting = [accountId, verdict.last_id, timeBefore(Date.now())];
  const unsealed = await read<Overdue>(overdue, waiting);
  return {
    ...verdict,
    unsealed: Math.max(0, headId - verdict.last_id),
    late: [...verdict.late, ...unsealed.map((range) => ({ ...range, sealed_at: null, sample: false }))],
  };
}

interface Overdue {
  first_id: number;
  last_id: number;
  occurred_at: string;
}

/** Reads pages of entries, so that small seals share a read. */
function pager(read: Read, accountId: number) {
  let page: CanonicalEntry[] = [];
  let [from, to] = [0, -1];
  return async (first: number, last: number) => {
    if (first < from || last > to) {
      [from, to] = [first, Math.max(last, first + ENTRIES_A_READ - 1)];
      page = await read<CanonicalEntry>(entriesBetween, [accountId, from, to]);
    }
    return page.filter(({ id }) => id >= first && id <= last).map((entry) => ({ place: entry.id, entry }));
  };
}

/** The account's seals in a file. Repeated numbers are skipped, because files only grow. */
export async function* fileSeals(path: string, accountId: number): AsyncGenerator<SealWithLeaves> {
  let last = 0;
  for await (const sealed of readSeals(path)) {
    const { account_id, number } = sealed.seal;
    if (account_id !== accountId || number <= last) continue;
    last = number;
    yield sealed;
  }
}

/** Merges seals by number. The file's seal comes first, with the store's as its copy. */
async function* merge(
  store: AsyncGenerator<SealWithLeaves>,
  file: AsyncGenerator<SealWithLeaves> | null,
): AsyncGenerator<Claim> {
  let [stored, kept] = [await store.next(), await file?.next()];
  while (!stored.done || (kept && !kept.done)) {
    if (kept && !kept.done && (stored.done || kept.value.seal.number <= stored.value.seal.number)) {
      const same = !stored.done && stored.value.seal.number === kept.value.seal.number;
      const leaves = kept.value.leaves ?? (same ? stored.value.leaves : null);
      yield { sealed: { ...kept.value, leaves }, stored: same ? stored.value : null };
      kept = await file?.next();
      if (same) stored = await store.next();
    } else if (!stored.done) {
      yield { sealed: stored.value };
      stored = await store.next();
    }
  }
}
