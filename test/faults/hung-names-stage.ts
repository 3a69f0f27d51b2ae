import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { measureInChild } from '../../src/monitor/children/measure-in-child.ts';
import { LIMITS } from '../../src/monitor/limits.ts';
import { PulseChild } from '../../src/monitor/pulse/pulse-child.ts';
import { instructions, target } from '../../src/monitor/run-fixture.ts';
import { startNameServer } from './notifications/name-server.ts';

/** What the stage prints, for hung-names.ts: what was told of a server whose name resolves, and after how long. */
export interface HungNamesResult {
  run: string;
  runMs: number;
  pulse: string;
  pulseMs: number;
  /** Of a server that the child had not heard of. */
  newMs: number;
}

/** More than a child has threads for. */
const HANGING = 100;

// This process has a network and mounts of its own.
execFileSync('ip', ['link', 'set', 'lo', 'up']);
const folder = mkdtempSync(join(tmpdir(), 'dbvitals-names-'));
const put = (path: string, text: string) => {
  const file = join(folder, path.replaceAll('/', '_'));
  writeFileSync(file, text, { mode: 0o644 });
  execFileSync('mount', ['--bind', file, path]);
};
put('/etc/resolv.conf', 'nameserver 127.0.0.1\n');
put('/etc/hosts', '');
put('/etc/nsswitch.conf', 'hosts: dns\n');
await startNameServer((name) => (name.startsWith('hanging-') ? null : { addresses: ['127.0.0.1'] }));

const { signal } = new AbortController();
const names = Array.from({ length: HANGING }, (_, place) => `hanging-${place}.test`);
const limits = { ...LIMITS, connectMs: 100, betweenTriesMs: 1 };

/** A run of one host after the other, in the child that the next run gets too. */
async function run(hosts: readonly string[]): Promise<string> {
  const host = hosts.length === 1 ? hosts.join() : hosts.map((name) => `${name}:1`).join();
  const job = { target: { ...target, host }, instructions: { ...instructions, limits, tries: 1 } };
  const { outcomes } = await measureInChild(job, signal);
  return outcomes[0]?.findings[0]?.metric_line ?? '';
}
await run(['calm.test']); // the first child ends with its run
await run(names.slice(0, 40));
const runBegan = performance.now();
const ofRun = await run(['calm.test']);
const runMs = performance.now() - runBegan;

const child = new PulseChild();
await child.pulse(0, { ...target, host: 'calm.test' }, true);
const hung = names.map((host, place) => child.pulse(place + 1, { ...target, host }, true));
const pulseBegan = performance.now();
const ofPulse = await child.pulse(0, { ...target, host: 'calm.test' }, true);
const pulseMs = performance.now() - pulseBegan;
await Promise.all(hung);

await wait(20_000); // until the resolver has given up each of them
// They are known by now, and a connection that was just added has another name.
const again = names.map((_, place) => child.pulse(place + 1, { ...target, host: names[place] ?? '' }, true));
const newBegan = performance.now();
await child.pulse(HANGING + 1, { ...target, host: 'new.test' }, true);
const newMs = performance.now() - newBegan;
await Promise.all(again);

const result: HungNamesResult = {
  run: ofRun,
  runMs,
  pulse: 'failure' in ofPulse ? ofPulse.failure.reason : 'a reading',
  pulseMs,
  newMs,
};
process.stdout.write(JSON.stringify(result), () => process.exit());
