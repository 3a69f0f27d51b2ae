import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { accountMove, accountMoveKill } from './account-move.ts';
import { killCell } from './cell-ends.ts';
import { manyWindows, wrongClock } from './clocks.ts';
import { collectorAway, collectorStoreAway } from './collector-away.ts';
import { collectorKill } from './collector-kill.ts';
import { consoleExports } from './console-exports.ts';
import { consoleLoops } from './console-loops.ts';
import { consoleTickets } from './console-tickets.ts';
import { deadConnections } from './dead-connections.ts';
import { diskFull } from './disk-full.ts';
import type { Extent, Fault } from './fault.ts';
import { hostileText } from './hostile-text.ts';
import { hungNames } from './hung-names.ts';
import { keyGuessing } from './key-guessing.ts';
import { malformed } from './malformed.ts';
import { notifyDestinations } from './notifications/notify-destinations.ts';
import { notifyFlapping } from './notifications/notify-flapping.ts';
import { notifyHour } from './notifications/notify-hour.ts';
import { notifyKill } from './notifications/notify-kill.ts';
import { notifyRate } from './notifications/notify-rate.ts';
import { notifySsrf } from './notifications/notify-ssrf.ts';
import { notifyStore } from './notifications/notify-store.ts';
import { streamKill } from './notifications/stream-kill.ts';
import { streamNeighbours } from './notifications/stream-neighbours.ts';
import { overLimit } from './over-limit.ts';
import { overload } from './overload.ts';
import { pipelining } from './pipelining.ts';
import { pulseFigures } from './pulse-figures.ts';
import { resets } from './resets.ts';
import { revoke } from './revoke.ts';
import { killServer, terminate } from './server-ends.ts';
import { slowClients } from './slow-clients.ts';
import { soak } from './soak.ts';
import { injection } from './sqlmap.ts';
import { killStore, restartStore } from './store-ends.ts';
import { blackHole, slowStore } from './store-hangs.ts';
import { shownBy } from './tests.ts';

// In the order of the printed table.
const FAULTS: Record<string, Fault> = {
  'kill-server': killServer,
  'kill-store': killStore,
  'restart-store': restartStore,
  'kill-cell': killCell,
  failover: shownBy(
    'failover to a standby (synchronous)',
    'only 200s and 500 envelopes; missing 0; serving again within 10 s, by a multi-host `DATABASE_URL`',
    'test/contract/failover.test.ts',
  ),
  'disk-full': diskFull,
  'slow-store': slowStore,
  'black-hole': blackHole,
  'wrong-clock': wrongClock,
  'many-windows': manyWindows,
  revoke,
  'slow-clients': slowClients,
  resets,
  pipelining,
  overload,
  'over-limit': overLimit,
  'console-loops': consoleLoops,
  'console-tickets': consoleTickets,
  'console-exports': consoleExports,
  'flooding-account': shownBy(
    'one account floods any route of the console, and its changes hang',
    "every other account's reads and changes answered 200, no 500 for anybody",
    'src/console-api/flooding-account.store.test.ts',
  ),
  'dead-connections': deadConnections,
  malformed,
  injection,
  tenants: shownBy(
    'tenants: every id of every account under every other account’s key',
    '0 leaks; bodies identical to those of absent ids',
    'test/contract/tenants.test.ts',
  ),
  'key-guessing': keyGuessing,
  'hostile-text': hostileText,
  soak,
  'collector-away': collectorAway,
  'collector-store-away': collectorStoreAway,
  'collector-kill': collectorKill,
  'hostile-server': shownBy(
    'hostile monitored server',
    'run closed at its deadline; at most 16 MiB more; 0 bytes of password; other runs on time',
    'src/monitor/session/postgres-hostile.store.test.ts',
    'src/monitor/session/mysql-hostile.store.test.ts',
  ),
  'rewritten-log': shownBy(
    'rewritten log: entries edited, seals deleted, sealed again, signing key replaced',
    'told by `activity verify` as docs/seals.md says',
    'test/contract/rewritten-log.test.ts',
  ),
  redirect: shownBy(
    'owner of the store redirects a connection',
    '0 bytes of password; `CONN_AUTH_FAILED`; logged as tampering',
    'src/connections/tampered.store.test.ts',
    'src/connections/bind-credentials.store.test.ts',
  ),
  'hung-names': hungNames,
  ...pulseFigures,
  'pulse-hostile': shownBy(
    'hostile servers beside others of their account: silent, slow, endless, huge, malformed',
    'pulses of the others, and of another account, go on',
    'src/monitor/pulse/account-children.store.test.ts',
  ),
  'notify-kill': notifyKill,
  'notify-store': notifyStore,
  'notify-destinations': notifyDestinations,
  'notify-rate': notifyRate,
  'notify-flapping': notifyFlapping,
  'notify-hour': notifyHour,
  'notify-ssrf': notifySsrf,
  'stream-kill': streamKill,
  'stream-neighbours': streamNeighbours,
  'account-move': accountMove,
  'account-move-kill': accountMoveKill,
  terminate,
};

/** Judged by what is counted, or by limits far from what is seen: other tests may run beside them. */
const COUNTED = [
  'many-windows',
  'dead-connections',
  'injection',
  'account-move-kill',
  'notify-kill',
  'notify-store',
  'notify-flapping',
  'notify-hour',
  'stream-kill',
  'collector-away',
  'collector-store-away',
  'collector-kill',
  'pulse-accounts',
  'pulse-pages',
];

/** Take about a minute or more even in the short form: the gate of CI leaves these to a part of its own. */
const LONG = [
  'slow-clients',
  'soak',
  'notify-destinations',
  'notify-rate',
  'many-windows',
  'dead-connections',
  'injection',
  'account-move-kill',
  'notify-flapping',
  'notify-hour',
  'stream-neighbours',
  'collector-away',
  'collector-store-away',
  'collector-kill',
  'pulse-chains',
  'pulse-told',
  'pulse-many',
  'pulse-accounts',
  'pulse-pages',
];

// Only this run sees its mounts, and they disappear with it.
if (process.getuid?.() === 0 && process.env['DBVITALS_FAULTS_APART'] === undefined) {
  const again = ['--mount', '--propagation', 'private', process.execPath, ...process.argv.slice(1)];
  const env = { ...process.env, DBVITALS_FAULTS_APART: 'yes' };
  process.exit(spawnSync('unshare', again, { stdio: 'inherit', env }).status ?? 1);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean' },
    long: { type: 'boolean' },
    soak: { type: 'boolean' },
    counted: { type: 'boolean' },
    timed: { type: 'boolean' },
  },
});
// The soak takes an hour, so it runs alone.
const names = values.soak ? ['soak'] : positionals;
const unknown = names.filter((name) => !(name in FAULTS));
if (unknown.length > 0) {
  throw new Error(`No fault is called ${unknown.join(', ')}: there are ${Object.keys(FAULTS).join(', ')}.`);
}
const extent: Extent = values.soak ? 'soak' : values.short || values.long ? 'short' : 'whole';

function isWanted(name: string): boolean {
  if (names.length > 0) return names.includes(name);
  if (values.long || values.short) return LONG.includes(name) === (values.long === true) && isOfKind(name);
  return isOfKind(name);
}

function isOfKind(name: string): boolean {
  return COUNTED.includes(name) ? !values.timed : !values.counted;
}

const attempt = (provoke: Fault['provoke']) =>
  provoke(extent).then(
    (seen) => ({ text: `${seen}`, reached: seen.reached, isSlow: seen.isSlow }),
    (error: unknown) => ({
      text: `${error}`.replace(/\s+/g, ' ').slice(0, 600),
      reached: false,
      isSlow: false,
    }),
  );

console.log('| name | fault | figure | seen | reached | took |');
console.log('| --- | --- | --- | --- | --- | --- |');
const leftOut: string[] = [];
for (const [name, { fault, figure, provoke, isTested }] of Object.entries(FAULTS)) {
  if (!isWanted(name)) continue;
  if (extent === 'short' && isTested && names.length === 0) {
    leftOut.push(name);
    continue;
  }
  const begun = performance.now();
  let { text, reached, isSlow } = await attempt(provoke);
  // One pause of a shared machine is more than 1 % of a few seconds' answers. Nothing but time gets a second attempt.
  if (isSlow && extent === 'short') {
    const first = text;
    ({ text, reached } = await attempt(provoke));
    text += ` (at the second attempt; at the first: ${first})`;
  }
  const seconds = Math.round((performance.now() - begun) / 1000);
  console.log(`| ${name} | ${fault} | ${figure} | ${text} | ${reached ? 'yes' : '**NO**'} | ${seconds} s |`);
  if (!reached) process.exitCode = 1;
}
if (leftOut.length > 0) console.log(`\nLeft to \`npm test\`, which has their tests: ${leftOut.join(', ')}.`);
// Does not wait for processes that a failed row left running.
process.exit();
