import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { renewMoves } from '../cells/move/account-move.ts';
import type { Config } from '../config/config.ts';
import { secretKeys } from '../config/secret-key.ts';
import { bindCredentials } from '../connections/bind-credentials.ts';
import { countLost } from '../connections/rotate-secret-key.ts';
import { watchRestoredStore } from '../connections/watch-own-store.ts';
import { type RestoredStore, restore } from '../database/backup/restore.ts';
import { openPool, type StoreAddress } from '../database/connect.ts';
import { type JoinedStore, joinStore } from '../database/open.ts';
import { pauseRestored } from '../notifications/dispatch/pause-restored.ts';
import { auditProof } from './audit-proof.ts';

/** The result of a restore. */
export interface Restored extends RestoredStore {
  /** How many accounts' logs match their seals, and a sentence for each other log; null = verified without the secret. */
  seals: { verified: number; broken: string[] } | null;
}

/**
 * Restores a backup into the empty store at `place`, then verifies every account's seals. Unless `unsigned`, the
 * backup must be signed with DBVITALS_SECRET_KEY. Unless `lostSecret`, throws and changes nothing when the backup was made
 * with another DBVITALS_SECRET_KEY.
 */
export async function restoreStore(
  config: Config,
  place: Parameters<typeof joinStore>[0],
  file: string | Readable,
  { lostSecret, unsigned }: { lostSecret: boolean; unsigned: boolean },
  say: (step: string) => void,
): Promise<Restored> {
  const input = typeof file === 'string' ? (await open(file)).createReadStream() : file;
  const store = await joinStore(place, say, 'make');
  try {
    await store.embedded?.claimForServing();
    let lost = 0;
    const keys = unsigned ? null : secretKeys(config);
    const restored = await restore(store.address, input, keys, async (client) => {
      lost = await countLost(client, secretKeys(config));
      if (lost > 0 && !lostSecret) throw new OtherSecretError();
      await pauseRestored(client);
      await renewMoves(client);
    });
    if (lost > 0) return { ...restored, seals: null };
    await watchItself(config, store);
    return { ...restored, seals: await verifySeals(config, store.address) };
  } finally {
    await store.close();
  }
}

class OtherSecretError extends Error {
  constructor() {
    super(
      'Nothing was restored, because the secret key is not the one that the backup was made with: provide that key, as secret.key in the data folder or as DBVITALS_SECRET_KEY, or use --lost-secret if it is lost.',
    );
  }
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
