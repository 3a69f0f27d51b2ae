import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runJson, startService } from '../contract/running-service.ts';

/** The real service with sample data, shared by all clients. */
export interface SampleService {
  /** Such as http://127.0.0.1:40123. */
  origin: string;
  /** A key of the enterprise account with the sample data; its limit is never reached. */
  key: string;
  /** A private file that contains only the key, without a newline. */
  keyFile: string;
  /** Creates another key of that account, for tests that count requests. */
  newKey(name: string): Promise<{ id: number; key: string }>;
  /** The account with the sample data. */
  accountId: number;
  /** The settings of the store, for programs that read it. */
  environment: Record<string, string>;
  /** Runs `dbvitals …` on the store and returns its JSON output. Throws its error message when it fails. */
  command<T>(...args: string[]): Promise<T>;
  /** The body of the API's 200 answer to that key. */
  read<T>(path: string): Promise<T>;
  /** Creates a folder for a client's configuration and output. It is removed when the service stops. */
  folder(name: string): string;
  stop(): Promise<void>;
}

/**
 * Starts the service without a monitor on a new embedded store and fills an account: ten connections with runs, one
 * without, 50 tickets, 1,000 entries. The data is the same on each start.
 */
export async function startSampleService(): Promise<SampleService> {
  const scratch = mkdtempSync(join(tmpdir(), 'dbvitals-clients-')); // some clients accept no space in a path
  chmodSync(scratch, 0o711);
  const environment = {
    DBVITALS_DATA_DIR: join(scratch, 'data'),
    DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes', // clients run here
  };
  const service = await startService(environment, ['--no-monitor']);
  const stop = async () => {
    await service.stop();
    rmSync(scratch, { recursive: true, force: true });
  };
  const command = <T>(...args: string[]) => runJson<T>(args, environment);
  try {
    const plan = ['--plan', 'enterprise', '--requests-per-minute', '100000'];
    const account = await command<{ id: number }>('account', 'create', '--name', 'Example', ...plan);
    const ours = ['--account', `${account.id}`];
    await command('sample-data', ...ours, '--seed', '1');
    const unreached = 'postgres://watcher@db.example.com:5432/shop';
    await command('connection', 'add', ...ours, '--name', 'not yet measured', '--url', unreached);
    const newKey = (name: string) =>
      command<{ id: number; key: string }>('key', 'create', ...ours, '--name', name);
    const { key } = await newKey('clients');
    const keyFile = join(scratch, 'key');
    writeFileSync(keyFile, key, { mode: 0o600 });
    const read = async <T>(path: string): Promise<T> => {
      const answer = await fetch(service.origin + path, { headers: { authorization: `Bearer ${key}` } });
      if (answer.status !== 200) throw new Error(`GET ${path} gave ${answer.status}.`);
      return (await answer.json()) as T;
    };
    const folder = (name: string) => {
      const path = join(scratch, name);
      mkdirSync(path);
      return path;
    };
    const { id: accountId } = account;
    return {
      origin: service.origin,
      accountId,
      environment,
      key,
      keyFile,
      newKey,
      command,
      read,
      folder,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
