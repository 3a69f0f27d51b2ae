import { createPublicKey, hash, verify } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { ask } from './ask.ts';
import { command, commandJson } from './command.ts';
import { startProcess, temporaryFolder } from './running-service.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const FORMULA = '=HYPERLINK("http://example.com","x")';
let account: string;
let publicKey: string;

beforeAll(async () => {
  const { id, key } = await makeAccount();
  account = String(id);
  for (const agent of ['curl/8.7.1', FORMULA, '@sum', "'quoted'"]) {
    await ask('/api/v1/health/fleet', { key, headers: { 'user-agent': agent } });
  }
  ({ public_key: publicKey } = await commandJson<{ public_key: string }>([
    'activity',
    'seal',
    '--account',
    account,
    '--public-key',
  ]));
});

/** As on a machine that has neither store nor settings. */
const elsewhere = (args: string[]) =>
  command(['activity', 'verify', ...args], { environment: { DBVITALS_DATA_DIR: join(folder.path, 'none') } });

async function exported(name: string, ...args: string[]): Promise<string> {
  const out = join(folder.path, name);
  const { exit, stderr } = await command(['activity', 'export', '--account', account, '--out', out, ...args]);
  expect(exit, stderr).toBe(0);
  return out;
}

test('seal and verify, also with a seal file', async () => {
  const file = join(folder.path, 'seals.ndjson');
  const environment = { ...inject('environment'), DBVITALS_SEAL_FILE: file };
  const made = await commandJson<{ seals: number; entries: number }>(
    ['activity', 'seal', '--account', account],
    { environment },
  );
  expect(made.seals).toBeGreaterThanOrEqual(1);
  expect(made.entries).toBeGreaterThanOrEqual(5);
  expect(readFileSync(file, 'utf8').trim().split('\n').length).toBeGreaterThanOrEqual(made.seals);
  const of = ['activity', 'verify', '--account', account];
  for (const args of [of, [...of, '--from-export', file]]) {
    expect(await commandJson(args)).toMatchObject({
      verified: true,
      account_id: Number(account),
      first_id: 1,
      unsealed: 0,
      cut_to: 0,
      public_keys: [publicKey],
    });
  }
  const { stdout } = await command(of);
  expect(stdout).toMatch(/^Entries 1 to \d+ of account \d+ match their seals/);
  expect(stdout).toContain(`Signed with ${publicKey}.`);
});

describe('an export', () => {
  test('is verified on another machine, by our program and by anything that knows SHA-256, Ed25519 and JSON', async () => {
    const out = await exported('plain');
    const { exit, stdout } = await elsewhere(['--from-export', out, '--public-key', publicKey, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ verified: true, first_id: 1, public_keys: [publicKey] });
    expect(exit).toBe(0);
    expect(existsSync(join(folder.path, 'none'))).toBe(false);

    // As docs/seals.md says it.
    const [line = ''] = readFileSync(join(out, 'seals.ndjson'), 'utf8').split('\n');
    const { seal, signature, leaves } = JSON.parse(line);
    const text = JSON.stringify(seal, Object.keys(seal).toSorted());
    const key = createPublicKey(readFileSync(join(out, 'public-key.pem')));
    expect(verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'))).toBe(true);
    const bytesOf = (name: string) => readFileSync(join(out, name));
    expect(verify(null, bytesOf('manifest.json'), key, bytesOf('manifest.json.sig'))).toBe(true);
    const entries = readFileSync(join(out, 'entries.ndjson'), 'utf8').split('\n');
    expect(hash('sha256', Buffer.from(leaves, 'base64'))).toBe(seal.leaves_sha256);
    expect(hash('sha256', entries[0] ?? '')).toBe(Buffer.from(leaves, 'base64').toString('hex', 0, 32));
  });

  test('in CSV has no formula in it', async () => {
    const out = await exported('table', '--format', 'csv');
    expect((await elsewhere(['--from-export', out])).exit).toBe(0);
    const csv = readFileSync(join(out, 'entries.csv'), 'utf8');
    expect(csv).toContain(`"'=HYPERLINK(""http://example.com"",""x"")"`);
    expect(csv).toContain(`"'@sum"`);
    expect(csv).toContain(`"''quoted'"`);
    for (const line of csv.split('\r\n')) expect(line).not.toMatch(/(^|,)"?[=+@\-|%\t]/);
    writeFileSync(join(out, 'entries.csv'), csv.replace('curl/8.7.1', 'curl/8.7.2'));
    const { exit, stderr } = await elsewhere(['--from-export', out]);
    expect(exit).toBe(2);
    expect(stderr).toMatch(/^error: entries\.csv, of entries 1 to \d+, is not as it was exported\.\n$/);
  });

  test.each<[string, string, (text: string) => string, RegExp]>([
    [
      'an entry is changed',
      'entries.ndjson',
      (t) => t.replace('@sum', '@sun'),
      /^error: Entry \d+ .* was edited\.$/,
    ],
    [
      'an entry is taken out',
      'entries.ndjson',
      (t) => t.split('\n').toSpliced(2, 1).join('\n'),
      /^error: Entry 3 .* was deleted\.$/,
    ],
    [
      'the last is taken out',
      'entries.ndjson',
      (t) => t.split('\n').toSpliced(-2, 1).join('\n'),
      /^error: Entry \d+ .* was deleted\.$/,
    ],
    [
      'one is put in',
      'entries.ndjson',
      (t) => t.split('\n').toSpliced(2, 0, '{}').join('\n'),
      /^error: Entry 3 .* was inserted\.$/,
    ],
    ['one is added', 'entries.ndjson', (t) => `${t}{}\n`, /^error: An entry was inserted after entry \d+\.$/],
    [
      'two are swapped',
      'entries.ndjson',
      (t) =>
        t
          .split('\n')
          .toSpliced(1, 2, ...t.split('\n').slice(1, 3).reverse())
          .join('\n'),
      /^error: Entry 2 .* was reordered\.$/,
    ],
    [
      'the text is written otherwise',
      'entries.ndjson',
      (t) => t.replace('"account_id":', '"account_id": '),
      /^error: Entry 1 .* was edited\.$/,
    ],
    [
      'the seals are gone',
      'seals.ndjson',
      () => '',
      /^error: The seal of entry 1 is missing in seals\.ndjson\.$/,
    ],
    [
      'the manifest is changed',
      'manifest.json',
      (t) => t.replace('"first_id":1', '"first_id":2'),
      /^error: The manifest.* is forged: its signature is invalid\.$/,
    ],
  ])('is refused when %s', async (name, file, change, message) => {
    const out = await exported(name);
    const path = join(out, file);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
    const { exit, stderr, stdout } = await elsewhere(['--from-export', out]);
    expect(stderr.trim()).toMatch(message);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  });

  test('of a range of time holds that range, and of a day without entries none', async () => {
    const none = await exported('none of it', '--to', '2000-01-01');
    expect(readFileSync(join(none, 'entries.ndjson'), 'utf8')).toBe('');
    expect((await elsewhere(['--from-export', none])).stdout).toMatch(/has no sealed entries/);
    const all = await exported('all', '--from', '2000-01-01');
    const times = readFileSync(join(all, 'entries.ndjson'), 'utf8').match(/"occurred_at":"[^"]+"/g) ?? [];
    const third = JSON.parse(`{${times[2]}}`).occurred_at;
    const some = await exported('some', '--from', third, '--to', third);
    const { first_id, last_id } = JSON.parse(readFileSync(join(some, 'manifest.json'), 'utf8'));
    expect({ first_id, last_id }).toEqual({ first_id: 3, last_id: 3 });
    expect((await elsewhere(['--from-export', some])).exit).toBe(0);
  });

  test('by another key is refused where ours is named', async () => {
    const out = await exported('named');
    const { exit, stderr } = await elsewhere([
      '--from-export',
      out,
      '--public-key',
      '0'.repeat(63).concat('1'),
    ]);
    expect({ exit, stderr }).toMatchObject({ exit: 2, stderr: expect.stringContaining('is forged') });
  });

  test('that was interrupted leaves nothing under its name, and one that is there is left alone', async () => {
    const out = join(folder.path, 'cut off');
    const started = () => readdirSync(folder.path).some((name) => name.startsWith('cut off.'));
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const args = ['activity', 'export', '--account', account, '--out', out];
      const process = startProcess(args, inject('environment'));
      await expect.poll(started, { interval: 1 }).toBe(true);
      await process.stop(signal);
      expect(readdirSync(folder.path).filter((name) => name === 'cut off')).toEqual([]);
      for (const name of readdirSync(folder.path).filter((name) => name.startsWith('cut off.')))
        rmSync(join(folder.path, name), { recursive: true });
    }
    const there = await exported('there');
    const before = readdirSync(there).map((name) => readFileSync(join(there, name), 'latin1'));
    const { exit, stderr } = await command(['activity', 'export', '--account', account, '--out', there]);
    expect({ exit, stderr }).toMatchObject({ exit: 2, stderr: expect.stringMatching(/does not exist yet/) });
    expect(readdirSync(there).map((name) => readFileSync(join(there, name), 'latin1'))).toEqual(before);
  });
});
