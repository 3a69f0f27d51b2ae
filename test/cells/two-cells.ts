import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../contract/running-service.ts';
import { startTestStore, type TestStore } from '../support/store.ts';

/** Two stores that the file of an environment names as cells 1 and 2. */
export interface TwoCells {
  first: TestStore;
  second: TestStore;
  /** The settings of a process on both. */
  environment: Environment;
  stop(): Promise<void>;
}

/** The URL of a test store. */
export function urlOf({ address: [{ host, user, password, database } = {}] }: TestStore): string {
  return `postgres://${user}:${password}@${encodeURIComponent(host ?? '')}/${database}`;
}

/** Starts two PostgreSQL servers with an empty store each, and names them in a file. `control` is the control store, if any. */
export async function startTwoCells(control: TestStore | null = null): Promise<TwoCells> {
  const [first, second] = await Promise.all([startTestStore(), startTestStore()]);
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-cells-'));
  const file = join(folder, 'cells.yaml');
  const cells = [first, second].map((store, at) => ({ id: at + 1, url: urlOf(store) }));
  const text = JSON.stringify({ cells, ...(control && { control_url: urlOf(control) }) });
  writeFileSync(file, text, { mode: 0o600 }); // JSON is YAML
  return {
    first,
    second,
    environment: { DBVITALS_CELLS_FILE: file, DBVITALS_SECRET_KEY: '5e'.repeat(32) },
    async stop() {
      await Promise.all([first.stop(), second.stop()]);
      rmSync(folder, { recursive: true });
    },
  };
}
