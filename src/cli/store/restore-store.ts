import type { Readable } from 'node:stream';
import type pg from 'pg';
import type { Config } from '../../config/config.ts';
import { secretKeys } from '../../config/secret-key.ts';
import type { StoreAddress } from '../../config/store-url.ts';
import { bindCredentials } from '../../connections/bind-credentials.ts';
import { countLost } from '../../connections/rotate-secret-key.ts';
import { watchRestoredStore } from '../../connections/watch-own-store.ts';
import { pauseRestored } from '../../notifications/dispatch/pause-restored.ts';
import { checkBackup } from '../../store/backup/check-backup.ts';
import { openBackup } from '../../store/backup/open-backup.ts';
import { type RestoredStore, restore } from '../../store/backup/restore.ts';
import { openPool } from '../../store/connect.ts';
import { CONTROL_ONLY, claimCell, nameOf, otherCell } from '../../store/directory/claim-cell.ts';
import { renewMoves } from '../../store/directory/move/account-move.ts';
import { inPlace } from '../../store/directory/name-place.ts';
import { joinPlace, type NamedPlace } from '../../store/directory/open-cells.ts';
import { findCellOf, type JoinedStore } from '../../store/open.ts';
import { auditProof } from '../audit-proof.ts';
import { transferProgress } from './transfer-progress.ts';
import { existingKeys } from './verify-backup.ts';

/** The result of a restore. */
export interface Restored extends RestoredStore {
  /** How many accounts' logs match their seals, and a sentence for each other log; null = verified without the secret. */
  seals: { verified: number; broken: string[] } | null;
}

/**
 * Restores a backup into the empty store at `place`, then verifies every account's seals. Reads the file twice: nothing of it
 * reaches PostgreSQL before it is known to be complete, of this cell and, unless `unsigned`, signed with DBVITALS_SECRET_KEY.
 * Unless `lostSecret`, throws and changes nothing when the backup was made with another DBVITALS_SECRET_KEY.
 */
export async function restoreStore(
  config: Config,
  place: NamedPlace,
  file: string | Readable,
  { lostSecret, unsigned }: { lostSecret: boolean; unsigned: boolean },
  say: (step: string) => void,
): Promise<Restored> {
  const backup = await openBackup(file);
  const progress = transferProgress();
  const read = (what: string) => backup.read((bytes, total) => progress.step(what, bytes, total));
  try {
    const { cell } = await checkBackup(read('checking'), unsigned ? null : existingKeys(config));
    refuseOtherCell(cell, place.cellId);
    const store = await joinPlace(place, say, 'make');
    try {
      await store.embedded?.claimForServing();
      await refuseClaimed(store.address, place.cellId);
      let lost = 0;
      const keys = unsigned ? null : secretKeys(config);
      const approve = async (client: pg.ClientBase) => {
        lost = await countLost(client, secretKeys(config));
        if (lost > 0 && !lostSecret) throw otherSecret();
        await pauseRestored(client);
        await renewMoves(client);
      };
      const restored = await inPlace(place, () => restore(store.address, read('restoring'), keys, approve));
      if (cell !== null) await claimCell(store.address, cell);
      if (lost > 0) return { ...restored, seals: null };
      await watchItself(config, store);
      return { ...restored, seals: await verifySeals(config, store.address) };
    } finally {
      await store.close();
    }
  } finally {
    progress.end();
    await backup.close();
  }
}

/** Throws a sentence unless a backup of `cell` belongs to the place `target`; null = the only store. */
function refuseOtherCell(cell: number | null, target: number | null): void {
  // An only store has the identifiers of cell 1.
  if (cell === target || (cell === null && target === 1)) return;
  const of = cell === null ? 'an only store, which can become cell 1' : nameOf(cell);
  const option = `--cell ${cell === CONTROL_ONLY ? 'control' : (cell ?? 1)}`;
  throw new Error(
    target === null
      ? `This is a backup of ${of}, and nothing was changed: name the stores in DBVITALS_CELLS_FILE, and use ${option}.`
      : `This is a backup of ${of}, and nothing was changed: use ${option}, or name a backup of ${nameOf(target)}.`,
  );
}

/** Throws a sentence if the store is another cell already, although it is empty. */
async function refuseClaimed(address: StoreAddress, target: number | null): Promise<void> {
  const owner = openPool(address, 'owner', { max: 1 });
  const found = await findCellOf(owner).finally(() => owner.end());
  if (found !== null && target !== null && found !== target) throw new Error(otherCell(found, target));
}

function otherSecret(): Error {
  return new Error(
    'Nothing was restored, because the secret key is not the one that the backup was made with: provide that key, as secret.key in the data folder or as DBVITALS_SECRET_KEY, or use --lost-secret if it is lost.',
  );
}

/** Points the store's connection to itself to the socket and password of this embedded store. */
async function watchItself(config: Config, { address, embedded }: JoinedStore): Promise<void> {
  if (!embedded) return;
  const writer = openPool(address, 'writer', { max: 1 });
  try {
    await bindCredentials(writer, secretKeys(config));
    await watchRestoredStore(writer, secretKeys(config), embedded.monitor);
  } finally {
    await writer.end();
  }
}

async function verifySeals(config: Config, address: StoreAddress) {
  const seals: { verified: number; broken: string[] } = { verified: 0, broken: [] };
  const owner = openPool(address, 'owner', { max: 1 });
  const writer = openPool(address, 'writer', { max: 1 });
  try {
    const { verify } = auditProof(config);
    const { rows } = await writer.query<{ account_id: number }>('select account_id from account order by 1');
    for (const { account_id } of rows) {
      const verdict = await verify(writer, owner, account_id, { sealFile: null, publicKeys: null });
      if (verdict.verified) seals.verified += 1;
      else seals.broken.push(verdict.message);
    }
    return seals;
  } finally {
    await Promise.all([owner.end(), writer.end()]);
  }
}
