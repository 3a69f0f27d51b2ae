import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { addConnectionCommands } from '../commands/connection-command.ts';
import { runCommand } from '../run-command-fixture.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

test('connections are listed by engine and version, as health checks measured it', async () => {
  const account = await store.account();
  const add = async (engine: string, version: number | null) => {
    const id = await store.connection(account, { engine });
    if (version !== null) {
      await store.writer.query(
        'insert into connection_version (account_id, connection_id, version, since) values ($1, $2, $3, now())',
        [account, id, version],
      );
    }
    return id;
  };
  const old = await add('postgres', 140_020);
  const next = await add('postgres', 180_004);
  const unmeasured = await add('postgres', null);
  const mysql = await add('mysql', 80_036);
  const maria = await add('mariadb', 101_106);
  const theirs = await store.account();
  await store.connection(theirs);
  const listed = async (...filter: string[]) => {
    const words = ['connection', 'list', '--account', String(account), '--json', ...filter];
    const rows = JSON.parse(await runCommand(store, addConnectionCommands, words));
    return rows.map(({ id }: { id: number }) => id);
  };
  expect(await listed()).toEqual([old, next, unmeasured, mysql, maria]);
  expect(await listed('--engine', 'postgres')).toEqual([old, next, unmeasured]);
  expect(await listed('--version', '18')).toEqual([next]);
  expect(await listed('--version', '18.4', '--engine', 'postgres')).toEqual([next]);
  expect(await listed('--version', '1')).toEqual([]);
  expect(await listed('--version', '8.0')).toEqual([mysql]);
  expect(await listed('--version', '10.11.6')).toEqual([maria]);
  expect(await listed('--version', '18', '--engine', 'mysql')).toEqual([]);
  await expect(listed('--version', '18%')).rejects.toThrow('--version must be a version');
});
