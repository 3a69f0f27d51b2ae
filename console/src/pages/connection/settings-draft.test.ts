import { expect, test } from 'vitest';
import { emptyDraft } from '../../parts/connection-draft.ts';
import { changedFields, changeOf, needsPassword, needsSshKey, rebased } from './settings-draft.ts';

const base = { ...emptyDraft, name: 'shop', host: 'db.example.com', port: '5432', username: 'watcher' };

test('unchanged fields are not sent', () => {
  expect(changeOf(3, base, base)).toEqual({ version: 3 });
  expect(changeOf(3, base, { ...base, name: ' shop 2 ' })).toEqual({ version: 3, name: 'shop 2' });
  expect(changeOf(3, base, { ...base, interval: '60', pulse: '0', password: ' x ' })).toEqual({
    version: 3,
    interval_seconds: 60,
    pulse_seconds: 0,
    password: ' x ',
    // Sent with a password, so that its destination is explicit.
    address: { engine: 'postgres', host: 'db.example.com', port: 5432, username: 'watcher' },
  });
});

test('the address is sent whole or not at all', () => {
  expect(changeOf(1, base, { ...base, port: '5433' })).toEqual({
    version: 1,
    address: { engine: 'postgres', host: 'db.example.com', port: 5433, username: 'watcher' },
  });
});

test('a tunnel is sent whole, and removed by null', () => {
  const tunnelled = { ...base, hasTunnel: true, sshUsername: 'ada', sshHost: 'bastion' };
  expect(changeOf(1, base, tunnelled)).toEqual({
    version: 1,
    ssh: { username: 'ada', host: 'bastion', port: 22 },
  });
  expect(changeOf(1, tunnelled, { ...tunnelled, hasTunnel: false })).toEqual({ version: 1, ssh: null });
});

test('a password is required again only if it goes elsewhere or with less protection', () => {
  const needed = (before: object, after: object) =>
    needsPassword({ ...base, ...before }, { ...base, ...before, ...after });
  for (const after of [
    { host: 'other' },
    { port: '5433' },
    { tls: 'verify-ca' as const },
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

test('after a conflict my changes and the other person’s are both kept', () => {
  const mine = { ...base, name: 'mine', port: '5433' };
  const theirs = { ...base, port: '6000', tls: 'require' as const };
  const both = rebased(base, mine, theirs);
  expect(both).toEqual({ ...theirs, name: 'mine', port: '5433' });
  expect(changedFields(theirs, both)).toEqual(['name', 'port']);
});
