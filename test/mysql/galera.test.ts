import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServerFacts } from '../../src/checks/check.ts';
import type { Row } from '../../src/checks/fault.ts';
import { galeraUnsynced } from '../../src/checks/mysql/galera-unsynced.ts';
import { replicaStopped } from '../../src/checks/mysql/replica-stopped.ts';
import { freePort } from '../contract/free-port.ts';
import { pasteableOn } from '../support/page-statements.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import type { SeenJudgement } from '../support/seen-judgement.ts';
import { measure, sample } from './measure.ts';
import { MysqlServer, type Settings } from './mysql-server.ts';
import { galeraProvider } from './tested-server.ts';

// Both nodes begin with the same data, so the second catches up by IST. This script would transfer only the position of
// the data. MariaDB 11.8 writes a login to the donor's script, and fails the transfer if the script has ended before.
const TRANSFER = `#!/bin/sh
position="$(dirname "$0")/position"
case "$*" in
  *'--role donor'*)
    cat > /dev/null
    gtid="\${*##*--gtid }"
    echo "\${gtid%% *}" > "$position.new" && mv "$position.new" "$position"
    echo "done \${gtid%% *}" ;;
  *)
    echo 'ready 127.0.0.1'
    until test -s "$position"; do sleep 0.1; done
    cat "$position" && rm "$position" ;;
esac
`;

let folder: string;
let [first, second]: MysqlServer[] = [];
let port: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'galera-'));
  const script = join(folder, 'wsrep_sst_position');
  writeFileSync(script, TRANSFER);
  chmodSync(script, 0o755);
  process.env['PATH'] = `${folder}:${process.env['PATH']}`;

  [first, second] = await Promise.all([MysqlServer.start(), MysqlServer.start()]);
  await at(first).run([
    'create table t (id int primary key) engine=innodb',
    'create table heap (v int) engine=innodb',
  ]);
  port = await freePort();
  const node = await settings(port, 2);
  await Promise.all([at(first).pause(), at(second).pause()]);
  await resume(at(first), node);
  await at(first).pause();
  rmSync(at(second).data, { recursive: true });
  cpSync(at(first).data, at(second).data, { recursive: true });
  await resume(at(first), node);
  await resume(at(second), await settings(await freePort(), 1, `127.0.0.1:${port}`));
  await synced();
});
afterAll(async () => {
  await Promise.all([first, second].map((server) => server?.stop()));
  rmSync(folder, { recursive: true, force: true });
});

/** Galera 26.4 sometimes fails to start on a busy machine: it sets the priority of a thread that has already ended. */
async function resume(server: MysqlServer, node: Settings): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await server.resume(node);
      return;
    } catch (error) {
      if (tries === 5 || !String(error).includes('Failed to set thread schedparams')) throw error;
    }
  }
}

function at(server: MysqlServer | undefined): MysqlServer {
  if (!server) throw new Error('The server was not started.');
  return server;
}

/** Settings of a node. If two nodes lose contact, the one with more weight keeps the quorum. */
async function settings(port: number, weight: number, peer = ''): Promise<Settings> {
  return {
    'binlog-format': 'ROW',
    'wsrep-on': 'ON',
    'wsrep-provider': galeraProvider(),
    // It would turn most options into variables, and `gmcast.isolate` is none.
    'loose-plugin-wsrep-provider': 'OFF',
    'wsrep-cluster-address': `gcomm://${peer}`,
    'wsrep-node-address': '127.0.0.1',
    'wsrep-sst-method': 'position',
    'wsrep-sst-receive-address': '127.0.0.1',
    'wsrep-provider-options': [
      `gmcast.listen_addr=tcp://127.0.0.1:${port}`,
      `ist.recv_addr=127.0.0.1:${await freePort()}`,
      `pc.weight=${weight}`,
      'gcache.size=16M',
      'gcs.fc_limit=2',
      'gcs.fc_factor=0.5',
      // A joining node tries ten times before it gives up, as by default: on a busy machine two tries can both be lost.
      'evs.suspect_timeout=PT1S',
      'evs.inactive_timeout=PT2S',
      'evs.inactive_check_period=PT0.5S',
      'evs.keepalive_period=PT0.2S',
      'evs.join_retrans_period=PT0.1S',
    ].join(';'),
  };
}

/** What a connection says that a node cuts off while it joins its cluster. */
const CUT_OFF = /Connection lost|ECONNRE|shutdown in progress/;

/** The rows of the previous run, a minute ago. */
let before: { rows: Row[]; seconds: number } | undefined;

const judged = (
  facts: Pick<ServerFacts, 'before'> = before ? { before } : {},
  on = at(second),
): Promise<SeenJudgement> => measure(on, galeraUnsynced, facts);

async function until(is: (judgement: SeenJudgement) => boolean, on = at(second)): Promise<SeenJudgement> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await wait(100)) {
    const judgement = await judged(undefined, on).catch((error: Error) => {
      if (!CUT_OFF.test(error.message)) throw error;
    });
    if (judgement && is(judgement)) return judgement;
  }
  throw new Error(`The node was not as awaited: ${JSON.stringify(await judged(undefined, on))}`);
}
const synced = () => until(({ faults }) => faults.length === 0);
const says =
  (words: string) =>
  ({ faults }: SeenJudgement) =>
    faults[0]?.metricLine.includes(words) ?? false;

/** A run some seconds earlier, with no flow control since. */
async function run(seconds: number): Promise<void> {
  before = { rows: await sample(at(second), galeraUnsynced), seconds };
}

test('a synced node: flow control needs two runs', async () => {
  before = undefined;
  expect(await judged()).toMatchObject({ faults: [], skipped: expect.stringContaining('this is the first') });
  await wait(1_100);
  before = { rows: await sample(at(second), galeraUnsynced), seconds: 1 };
  expect((await judged()).skipped).toContain('less than 5 s ago');
  expect((await judged({ before: { ...before, seconds: 100_000 } })).skipped).toContain(
    'not up and connected',
  );
});

test('a desynced node is found, and the remediation syncs it again', async () => {
  await at(second).run('set global wsrep_desync = on');
  const judgement = await judged();
  expect(judgement).toMatchObject({ faults: [{ severity: 'warning', object: null }], truncated: true });
  expect(judgement.faults[0]?.metricLine).toContain('Donor/Desynced');
  await at(second).run(judgement.faults[0]?.remediation ?? '');
  await synced();
});

test('a node that does not replicate its writes is found', async () => {
  await at(second).run('set global wsrep_on = off');
  const judgement = await judged();
  expect(judgement.faults).toMatchObject([{ severity: 'critical', object: null }]);
  expect(judgement.faults[0]?.metricLine).toContain('wsrep_on is OFF');
  await at(second).run(judgement.faults[0]?.remediation ?? '');
  await synced();
});

test('a node without a quorum is found although it refuses every select; the other node continues', async () => {
  await at(second).run(`set global wsrep_provider_options = 'gmcast.isolate=1'`);
  const judgement = await until(says('no quorum (non-Primary)'));
  expect(judgement.faults).toMatchObject([{ severity: 'critical', object: null }]);
  await expect(at(second).run('select count(*) from t')).rejects.toMatchObject({ errno: 1047 });
  expect(await judged(undefined, at(first))).toMatchObject({ faults: [] });
  await at(first).run('insert into t values (100)');
  await at(second).run((judgement.faults[0]?.remediation ?? '').split(' -- ')[0] ?? '');
  await at(second).run(`set global wsrep_provider_options = 'gmcast.isolate=0'`);
  await synced();
  await at(second).until('select count(*) = 1 from t where id = 100');
});

test('a source that is configured on a node is told as one of a cluster, whose data may come from there', async () => {
  await at(second).run("change master to master_host = 'nowhere.invalid', master_user = 'copier'");
  await at(second).run('set global read_only = on');
  const [stopped] = (await measure(at(second), replicaStopped)).faults;
  expect(stopped?.metricLine).toContain('this server is a member of a cluster. If');
  expect(stopped?.remediation).toMatch(/^SHOW ALL SLAVES STATUS; SELECT @@read_only; -- find out first /);
  await at(second).run('set global read_only = off');
  await at(second).run('reset slave all');
  expect((await measure(at(second), replicaStopped)).faults).toEqual([]);
});

test('a slow node delays all writes: flow control between two runs', async () => {
  await run(5);
  expect(await judged()).toMatchObject({ faults: [] });
  const paused = async () => {
    const [row] = await at(second).run(`show status like 'wsrep_flow_control_paused_ns'`);
    return Number(row?.['Value']) / 1e9;
  };
  const begun = await paused();
  // The first has written all of it when the second begins. How long that takes depends on the machine.
  const one = 'insert into heap select seq from seq_1_to_400000';
  for (let round = 0; round < 20 && (await paused()) < begun + 0.2; round++) {
    const ids = Array.from({ length: 20 }, (_, n) => 1_000 + 20 * round + n);
    await at(first).run([one, ...ids.map((id) => `insert into t values (${id})`)]);
    await at(second).until(`select count(*) = 1 from t where id = ${ids.at(-1)}`);
  }
  const judgement = await judged();
  expect(judgement.faults).toMatchObject([{ severity: 'warning', object: 'flow control' }]);
  expect(judgement.skipped).toBeUndefined();
  await at(second).run((judgement.faults[0]?.remediation ?? '').split(' -- ')[0] ?? '');
  await run(5);
  expect(await judged()).toEqual({
    faults: [],
    passMessage: 'The node is synced; flow control took 0 % of the time since the last run.',
    measures: [expect.objectContaining({ metric: 'flow_control_paused_ratio', object: 'flow control' })],
  });
});

test('the last node of a cluster is bootstrapped by a statement of the page', async () => {
  const { statements } = pasteableOn('MY_GALERA_UNSYNCED');
  const bootstraps = statements.filter((statement) => statement.includes(' wsrep_provider_'));
  expect(bootstraps).toHaveLength(2);
  for (const statement of statements) if (!bootstraps.includes(statement)) await at(second).run(statement);
  await at(second).pause();
  const { 'loose-plugin-wsrep-provider': _, ...asByDefault } = await settings(
    await freePort(),
    1,
    `127.0.0.1:${port}`,
  );
  await resume(at(second), asByDefault);
  await synced();
  await at(first).pause('SIGKILL');
  await until(says('no quorum (non-Primary)'));
  const accepted: string[] = [];
  for (const statement of bootstraps) {
    await at(second)
      .run(statement)
      .then(
        () => accepted.push(statement),
        (error: { errno: number }) => expect([1193, 1210, 1238]).toContain(error.errno),
      );
  }
  expect(accepted).toHaveLength(1);
  await synced();
});
