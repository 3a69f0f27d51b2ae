import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { migrate } from './migrate.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

test('for a user that may not create roles, the error lists the statements that are needed', async () => {
  const root = await store.superuser();
  await root.query(`create role "Plain user" login password 'plain'`);
  await root.query(`create database plain owner "Plain user"`);
  const [server] = store.address;
  const address = [{ ...server, user: 'Plain user', password: 'plain', database: 'plain' }];
  const told = async () => {
    const error: unknown = await migrate(address).catch((reason: unknown) => reason);
    return error instanceof Error ? error.message : '';
  };
  const grant = 'grant dbvitals_writer, dbvitals_reader, dbvitals_console to "Plain user";';
  expect(await told()).toMatch(new RegExp(`try again: ${grant}$`));
  await root.query('alter role dbvitals_reader rename to another');
  const message = await told();
  const [, statements = ''] = message.split('try again: ');
  expect(statements).toBe(`create role dbvitals_reader nologin; ${grant}`);
  await root.query(statements);
  expect(await migrate(address)).not.toEqual([]);
});
