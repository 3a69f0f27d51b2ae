import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { commandJson } from './command.ts';
import { startProcess, temporaryFolder } from './running-service.ts';

// What a collector without a connection has loaded: it idles beside databases, and what it loads it has for months.

const folder = temporaryFolder();
const path = (name: string) => join(folder.path, name);
afterAll(() => folder.remove());

/** Writes at a signal what a process has loaded, and how often it made a formatter: the first one loads the tables of all languages. */
const PROBE = `
const { registerHooks } = require('node:module');
const loaded = [];
let formatters = 0;
registerHooks({
  resolve(name, context, next) {
    const resolved = next(name, context);
    loaded.push({ name, from: context.parentURL ?? '', url: resolved.url });
    return resolved;
  },
});
for (const name of ['NumberFormat', 'DateTimeFormat', 'Collator', 'Segmenter', 'PluralRules']) {
  Intl[name] = new Proxy(Intl[name], {
    construct: (target, given) => (formatters++, new target(...given)),
    apply: (target, self, given) => (formatters++, target.apply(self, given)),
  });
}
process.once('SIGUSR2', () => {
  const { renameSync, writeFileSync } = require('node:fs');
  const builtin = process.moduleLoadList.map((one) => one.replace(/^NativeModule /, ''));
  writeFileSync(__dirname + '/loaded.part', JSON.stringify({ loaded, builtin, formatters }));
  renameSync(__dirname + '/loaded.part', __dirname + '/loaded.json');
});
`;

interface Loaded {
  loaded: { name: string; from: string; url: string }[];
  builtin: string[];
  formatters: number;
}

test('an idle collector has loaded no engine, no store, no schema and no second HTTP client', async () => {
  const { id } = await makeAccount();
  const enrol = ['collector', 'enrol', '--account', `${id}`, '--name', 'idle'];
  writeFileSync(path('token'), (await commandJson<{ token: string }>(enrol)).token, { mode: 0o600 });
  writeFileSync(path('collector.yaml'), JSON.stringify({ connections: {} }), { mode: 0o600 });
  writeFileSync(path('probe.cjs'), PROBE);
  const files = ['--file', path('collector.yaml'), '--token-file', path('token'), '--folder', path('key')];
  const args = ['collect', '--url', inject('origin'), '--name', 'idle', ...files];
  const collector = startProcess(args, {}, undefined, ['--require', path('probe.cjs')]);
  const list = () =>
    commandJson<{ state: string }[]>(['collector', 'list', '--account', `${id}`]).then(([one]) => one?.state);
  await collector.says(/the collector runs/);
  await expect.poll(list, { interval: 500 }).toBe('connected'); // it asks for work
  process.kill(collector.pid, 'SIGUSR2');
  const isWritten = () => existsSync(path('loaded.json'));
  await expect.poll(isWritten, { interval: 100 }).toBe(true);
  expect(await collector.stop()).toBe(0);

  const { loaded, builtin, formatters }: Loaded = JSON.parse(readFileSync(path('loaded.json'), 'utf8'));
  const isOurs = (url: string) => !url.includes('/node_modules/') && url.startsWith('file:');
  const packages = loaded.filter(
    ({ name, from }) => isOurs(from) && /^[@a-z]/.test(name) && !name.startsWith('node:'),
  );
  expect([...new Set(packages.map(({ name }) => name))].toSorted()).toEqual(['commander', 'pino']);
  const own = new Set(loaded.map(({ url }) => url).filter(isOurs));
  expect(own).toContain(new URL('../../src/monitor/collector/collect.ts', import.meta.url).href);
  expect(own.size).toBeLessThan(100); // 80 today; a run loads 280
  expect(builtin).toContain('https');
  expect(builtin.filter((one) => one.includes('undici'))).toEqual([]);
  expect(formatters).toBe(0);
});
