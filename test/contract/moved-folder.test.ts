import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readLog } from './activity-log.ts';
import { commandJson } from './command.ts';
import { startService, temporaryFolder } from './running-service.ts';

const folder = temporaryFolder();
const place = (name: string) => join(folder.path, name);
const on = (name: string) => ({ environment: { DBVITALS_DATA_DIR: place(name) } });

afterAll(() => folder.remove());

interface Connection {
  host: string;
}

test('the store of a copied data folder is watched at its new place with its old password', async () => {
  const first = await startService({ DBVITALS_DATA_DIR: place('first') }, ['--no-monitor']);
  const [, key = ''] = await first.says(/API key +(dbv_live_\w{49})/);
  // Of a store's own by its names alone: it must not get the password of the store's monitoring role.
  const url = `postgres://dbvitals_monitor@/dbvitals?host=${encodeURIComponent(place('elsewhere'))}`;
  const strange = ['--account', '1', '--name', 'strange', '--url', url, '--password-stdin'];
  await commandJson(['connection', 'add', ...strange], { ...on('first'), input: 'unspoken-guess' });
  await first.stop();

  execFileSync('cp', ['-a', place('first'), place('copied')]);
  const host = join(place('copied'), 'postgres');
  const copied = await startService({ DBVITALS_DATA_DIR: place('copied') }, ['--no-monitor']);
  try {
    const { score } = await commandJson<{ score: number }>(
      ['check', 'run', '--connection', '1'],
      on('copied'),
    );
    expect(score).toBeGreaterThan(80);
    const [own, other] = await commandJson<Connection[]>(
      ['connection', 'list', '--account', '1'],
      on('copied'),
    );
    expect([own?.host, other?.host]).toEqual([host, place('elsewhere')]);
    const changes = (await readLog(key, 0, copied.origin)).filter(
      ({ action_type }) => action_type === 'connection_changed',
    );
    expect(changes.map(({ properties }) => properties)).toEqual([
      expect.objectContaining({ connection_id: 1, host }),
    ]);
  } finally {
    await copied.stop();
  }
});
