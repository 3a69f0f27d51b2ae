import { expect, test } from 'vitest';
import { emptyDraft } from '../../parts/connection-draft.ts';
import { changedFields, changeOf, rebased } from './settings-draft.ts';

const base = { ...emptyDraft, name: 'shop', host: 'db.example.com', port: '5432', username: 'watcher' };

test('what was not changed is not sent', () => {
  expect(changeOf(3, base, base)).toEqual({ version: 3 });
  expect(changeOf(3, base, { ...base, name: ' shop 2 ' })).toEqual({ version: 3, name: 'shop 2' });
  expect(changeOf(3, base, { ...base, interval: '60', password: ' x ' })).toEqual({
    version: 3,
    interval_seconds: 60,
    password: ' x ',
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

test('mine stays mine upon what somebody else changed, and theirs theirs', () => {
  const mine = { ...base, name: 'mine', port: '5433' };
  const theirs = { ...base, port: '6000', tls: 'require' as const };
  const both = rebased(base, mine, theirs);
  expect(both).toEqual({ ...theirs, name: 'mine', port: '5433' });
  expect(changedFields(theirs, both)).toEqual(['name', 'port']);
});
