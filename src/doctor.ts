import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnosis } from './admin/command.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import { openPool } from './database/connect.ts';
import { type JoinedStore, joinStore, requestAddress } from './database/open.ts';
import { lookAtDisk, lookAtSealFile, lookAtSecret, lookAtTls } from './doctor-machine.ts';
import { lookAtService } from './doctor-service.ts';
import { lookAtStore } from './doctor-store.ts';

/**
 * Looks at settings, machine, store and service, in an order in which what fails explains what comes after it. Changes nothing but
 * that the embedded PostgreSQL runs meanwhile; `say` hears of that.
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
  return [
    { about: 'settings', status: 'ok', message: 'Every setting can be read.', remedy: null },
    ...lookAtSecret(config, process.env['DBVITALS_SECRET_KEY_FILE']?.trim() || null),
    ...lookAtTls(config),
    lookAtDisk(config.databaseUrl === null ? config.dataDir : '.'),
    ...lookAtSealFile(config.sealFile),
    ...(await lookThroughStore(config, say)),
    ...(await lookAtService(config)),
  ];
}

async function lookThroughStore(config: Config, say: (step: string) => void): Promise<Diagnosis[]> {
  if (config.databaseUrl === null && !existsSync(join(config.dataDir, 'postgres'))) {
    return [
      {
        about: 'store',
        status: 'warning',
        message: `There is no store in ${config.dataDir} yet.`,
        remedy:
          'Start "dbvitals serve", which makes it; or set DBVITALS_DATA_DIR or DATABASE_URL to the one that you mean.',
      },
    ];
  }
  try {
    const store = await joinStore(config, say, 'refuse');
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
      const found = await lookAtStore(config, new Map(pools));
      return [reached, ...found, ...(await lookAtPooler(config, store))];
    } finally {
      await Promise.all(pools.map(([, pool]) => pool.end()));
      await store.close();
    }
  } catch (error) {
    // It names the store's host and the reason; a password stands in no error of the driver.
    const reason = error instanceof Error ? error.message.replace(/\.$/, '') : 'unknown';
    return [
      {
        about: 'store',
        status: 'error',
        message: `The store can't be used: ${reason}.`,
        remedy: config.databaseUrl
          ? 'Check that PostgreSQL runs, and host, user and password of DATABASE_URL.'
          : "See PostgreSQL's log in the folder postgres/log of the data folder.",
      },
    ];
  }
}

const STATEMENT_MS = 10_000;

async function lookAtPooler({ poolerUrl }: Config, store: JoinedStore): Promise<Diagnosis[]> {
  if (poolerUrl === null) return [];
  const about = 'pooler';
  try {
    await requestAddress({ ...store, applied: [] }, poolerUrl);
    const message = 'The pooler leads to the store as writer and as reader.';
    return [{ about, status: 'ok', message, remedy: null }];
  } catch (error) {
    const message = error instanceof Error ? error.message : "DBVITALS_POOLER_URL can't be used.";
    return [{ about, status: 'error', message, remedy: 'Set the pooler up as docs/scaling.md says.' }];
  }
}
