import { resolve } from 'node:path';
import pg from 'pg';
import { type Config, loadConfig } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { judgeLink, type StoreTls } from '../../config/store-tls.ts';
import type { StoreAddress } from '../../config/store-url.ts';
import { openPool } from '../../store/connect.ts';
import { holdsStore } from '../../store/data-folder.ts';
import { type NamedPlace, placeOf, storeNumbers } from '../../store/directory/open-cells.ts';
import { connectFailure } from '../../store/link/store-connect-failure.ts';
import { type JoinedStore, joinStore, requestAddress } from '../../store/open.ts';
import { storeIdentity } from '../../store/store-identity.ts';
import { checkDirectory } from './check-directory.ts';
import {
  checkDisk,
  checkEmbedded,
  checkSealFile,
  checkSecret,
  checkTls,
  hasEmbedded,
} from './check-machine.ts';
import { checkService } from './check-service.ts';
import { checkStore } from './check-store.ts';
import type { Diagnosis } from './diagnosis.ts';

/**
 * Checks settings, machine, store and service, in an order in which an earlier failure explains later ones. Changes nothing,
 * but runs the embedded PostgreSQL meanwhile and reports that to `say`.
 */
export async function diagnose(say: (step: string) => void): Promise<Diagnosis[]> {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((message) => ({
      about: 'settings',
      status: 'error',
      message,
      remedy: 'Settings are environment variables, or lines of .env in the working folder.',
    }));
  }
  // The control store is the first.
  const stores: StoreDiagnoses[] = [];
  for (const number of storeNumbers(config)) {
    const found = await diagnoseStore(config, number, say);
    const { name } = placeOf(config, number);
    // With several stores, each message begins with its store's name.
    const named = ({ message, ...rest }: Diagnosis) => ({ ...rest, message: `In ${name}: ${message}` });
    stores.push(number === null ? found : { ...found, diagnoses: found.diagnoses.map(named) });
  }
  return [
    ...checkSettings(config),
    ...checkSecret(config, process.env['DBVITALS_SECRET_KEY_FILE']?.trim() || null),
    ...checkTls(config),
    ...checkEmbedded(config),
    checkDisk(hasEmbedded(config) ? config.dataDir : '.'),
    ...checkSealFile(config.sealFile),
    ...stores.flatMap(({ diagnoses }) => diagnoses),
    ...(config.cells ? await checkDirectory(config) : []),
    ...(await checkService(config, stores[0]?.id ?? null)),
  ];
}

function checkSettings({ misspelt }: Config): Diagnosis[] {
  const about = 'settings';
  if (misspelt.length === 0)
    return [{ about, status: 'ok', message: 'All settings are valid.', remedy: null }];
  const remedy = 'Correct the name in the environment or in .env: the misspelled variable has no effect.';
  return misspelt.map((message) => ({ about, status: 'warning', message, remedy }));
}

/** The diagnoses of the store and its identity; null = unknown. */
interface StoreDiagnoses {
  diagnoses: Diagnosis[];
  id: string | null;
}

async function diagnoseStore(
  config: Config,
  number: number | null,
  say: (step: string) => void,
): Promise<StoreDiagnoses> {
  const place = placeOf(config, number);
  try {
    if (place.databaseUrl === null && !holdsStore(config.dataDir)) {
      const message = `There is no store in ${resolve(config.dataDir)} yet.`;
      const remedy =
        'Start "dbvitals serve", which creates it, or set DBVITALS_DATA_DIR or DATABASE_URL to your store.';
      return { diagnoses: [{ about: 'store', status: 'warning', message, remedy }], id: null };
    }
    const store = await joinStore(place, say, 'refuse');
    const pools = (['owner', 'writer', 'reader', 'console'] as const).map(
      (role) => [role, openPool(store.address, role, { max: 1, statementTimeout: STATEMENT_MS })] as const,
    );
    try {
      const reached: Diagnosis = {
        about: 'store',
        status: 'ok',
        message: `${store.description} answers.`,
        remedy: null,
      };
      const found = await checkStore(config, new Map(pools));
      const diagnoses = [
        reached,
        ...checkLink(store.address),
        ...found,
        ...(await checkPooler(place, store)),
      ];
      const folder = store.embedded ? config.dataDir : null;
      return { diagnoses, id: await storeIdentity(store.address, folder).catch(() => null) };
    } finally {
      await Promise.all(pools.map(([, pool]) => pool.end()));
      await store.close();
    }
  } catch (error) {
    // The message names the store's host and the reason. No error of the driver contains a password.
    const reason = error instanceof Error ? error.message.replace(/\.$/, '') : 'unknown';
    const message = connectFailure(error, place.words) ?? `The store can't be used: ${reason}.`;
    const remedy = place.databaseUrl
      ? 'Check that PostgreSQL is running, and check host, user and password in its URL.'
      : "See PostgreSQL's log in the folder postgres/log of the data folder.";
    return { diagnoses: [{ about: 'store', status: 'error', message, remedy }], id: null };
  }
}

const STATEMENT_MS = 10_000;

/** Warns where anyone between this machine and the store can read along, or pose as the store. */
function checkLink(address: StoreAddress): Diagnosis[] {
  const links = address.map((host) => judgeLink(new pg.Client(host).host, host.ssl as StoreTls));
  const about = 'link';
  const remedy =
    'Add sslmode=verify-full to its URL, with sslrootcert for a private CA: docs/reference/store.md.';
  if (links.includes('plaintext')) {
    const message = 'The connection to the store is not encrypted, and the store is on another machine.';
    return [{ about, status: 'warning', message, remedy }];
  }
  if (links.includes('unverified')) {
    const message = "The store's certificate is not verified: another server could pose as the store.";
    return [{ about, status: 'warning', message, remedy }];
  }
  return [];
}

async function checkPooler(place: NamedPlace, store: JoinedStore): Promise<Diagnosis[]> {
  if (place.poolerUrl === null) return [];
  const about = 'pooler';
  try {
    await requestAddress(store, place);
    const message = 'The pooler connects to the store as writer and as reader.';
    return [{ about, status: 'ok', message, remedy: null }];
  } catch (error) {
    const message = error instanceof Error ? error.message : "The pooler can't be used.";
    return [
      { about, status: 'error', message, remedy: 'Configure the pooler as described in docs/scaling.md.' },
    ];
  }
}
