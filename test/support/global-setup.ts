import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { type Environment, embeddedUrl, startService, temporaryFolder } from '../contract/running-service.ts';
import { failOn } from './scan-output.ts';
import { recordedSecrets, storeLeaks } from './secret-scan.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The service that all test files use, such as http://127.0.0.1:40123. */
    origin: string;
    /** The environment of commands on its store. */
    environment: Environment;
    /** The environment of more services on its store, which connect by `DATABASE_URL`. */
    sharedStore: Environment;
    /** The service's output until it was ready. */
    firstOutput: string;
  }
}

/**
 * Starts the service of a run, without a monitor, so that only tests start checks. It uses an embedded store in an empty
 * folder or, with `DATABASE_URL`, a new database on that server. Afterwards the service is stopped and its data removed.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const running = process.env['DBVITALS_TEST_SERVICE'];
  if (running !== undefined) {
    provideAll(project, JSON.parse(running)); // the other tier has started it
    return async () => {};
  }
  const given = process.env['DATABASE_URL'];
  const store = given === undefined ? embeddedStore() : await ownDatabase(given);
  // Members add the suite's own store, which listens on a socket.
  const settings = { ...store.environment, DBVITALS_ALLOW_CONSOLE_SOCKETS: 'yes' };
  const service = await startService(settings, ['--no-monitor']);
  await service.says(/API key .*\n/);
  const provided: ProvidedContext = {
    origin: service.origin,
    environment: store.environment,
    sharedStore: store.shared(),
    firstOutput: service.output(),
  };
  process.env['DBVITALS_TEST_SERVICE'] = JSON.stringify(provided);
  provideAll(project, provided);
  return async () => {
    const folder = process.env['DBVITALS_TEST_OUTPUT'] ?? '';
    const found = await storeLeaks(store.shared()['DATABASE_URL'] ?? '', recordedSecrets(folder));
    await service.stop();
    await store.remove();
    failOn(found);
  };
}

function provideAll(
  project: TestProject,
  { origin, environment, sharedStore, firstOutput }: ProvidedContext,
) {
  project.provide('origin', origin);
  project.provide('environment', environment);
  project.provide('sharedStore', sharedStore);
  project.provide('firstOutput', firstOutput);
}

interface Store {
  environment: Environment;
  /** Known once the service has made the store. */
  shared(): Environment;
  remove(): Promise<void>;
}

function embeddedStore(): Store {
  const folder = temporaryFolder();
  const dataFolder = join(folder.path, 'data');
  return {
    environment: { DBVITALS_DATA_DIR: dataFolder },
    shared: () => embeddedUrl(dataFolder),
    remove: async () => folder.remove(),
  };
}

async function ownDatabase(url: string): Promise<Store> {
  const name = `dbvitals_test_${randomBytes(6).toString('hex')}`;
  await statement(url, `create database ${name}`);
  const [, server, , query = ''] = /^([a-z]+:\/\/[^/?]*)(\/[^?]*)?(\?.*)?$/.exec(url) ?? [];
  const environment = {
    DATABASE_URL: `${server}/${name}${query}`,
    DBVITALS_SECRET_KEY: randomBytes(32).toString('hex'),
  };
  return {
    environment,
    shared: () => environment,
    remove: () => statement(url, `drop database ${name} with (force)`),
  };
}

async function statement(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}
