import { expect, test } from 'vitest';
import { emptyDraft } from '../../parts/connection-draft.ts';
import { changedFields, changeOf, needsPassword, needsSshKey, rebased } from './settings-draft.ts';

const base = { ...emptyDraft, name: 'shop', host: 'db.example.com', port: '5432', username: 'watcher' };

test('what was not changed is not sent', () => {
  expect(changeOf(3, base, base)).toEqual({ version: 3 });
  expect(changeOf(3, base, { ...base, name: ' shop 2 ' })).toEqual({ version: 3, name: 'shop 2' });
  expect(changeOf(3, base, { ...base, interval: '60', password: ' x ' })).toEqual({
    version: 3,
    interval_seconds: 60,
    password: ' x ',
    // Along with a password, so that it is clear where it goes.
    address: { engine: 'postgres', host: 'db.example.com', port: 5432, username: 'watcher' },
  });
});

test('of where the database is all is sent, or nothing', () => {
  expect(changeOf(1, base, { ...base, port: '5433' })).toEqual({
    version: 1,
    address: { engine: 'postgres', host: 'db.example.com', port: 5433, username: 'watcher' },
  });
});

test('a tunnel is given whole, and taken away by null', () => {
  const tunnelled = { ...base, hasTunnel: true, sshUsername: 'ada', sshHost: 'bastion' };
  expect(changeOf(1, base, tunnelled)).toEqual({
    version: 1,
    ssh: { username: 'ada', host: 'bastion', port: 22 },
  });
  expect(changeOf(1, tunnelled, { ...tunnelled, hasTunnel: false })).toEqual({ version: 1, ssh: null });
});

test('a password is entered again where it goes elsewhere or less protected, and only there', () => {
  const needed = (before: object, after: object) =>
    needsPassword({ ...base, ...before }, { ...base, ...before, ...after });
  for (const after of [
    { host: 'other' },
    { port: '5433' },
    { tls: 'require' as const },
    { passwordExposable: true },
    { caCertificate: 'x' },
    { hasTunnel: true },
  ])
    expect(needed({}, after), JSON.stringify(after)).toBe(true);
  expect(needed({ hasTunnel: true, sshHost: 'one' }, { hasTunnel: false })).toBe(true);
  expect(needed({ tls: 'disable', passwordExposable: true }, { tls: 'require' })).toBe(false);
  expect(needed({ passwordExposable: true }, { passwordExposable: false, name: 'x', interval: '60' })).toBe(
    false,
  );
  expect(needsSshKey(base, { ...base, sshHost: 'other' })).toBe(true);
  expect(needsSshKey(base, { ...base, sshKey: 'x' })).toBe(false);
});

test('mine stays mine upon what somebody else changed, and theirs theirs', () => {
  const mine = { ...base, name: 'mine', port: '5433' };
  const theirs = { ...base, port: '6000', tls: 'require' as const };
  const both = rebased(base, mine, theirs);
  expect(both).toEqual({ ...theirs, name: 'mine', port: '5433' });
  expect(changedFields(theirs, both)).toEqual(['name', 'port']);
});
