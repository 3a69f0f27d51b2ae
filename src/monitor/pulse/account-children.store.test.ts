import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  afterLogin,
  endless,
  type HostileAnswer,
  login,
  message,
  startHostileServer,
} from '../../../test/support/hostile-server.ts';
import { findWorkers, send } from '../../../test/support/process-tree.ts';
import { startTestStore, type TestStore, WATCHER_PASSWORD } from '../../../test/support/store.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { Target } from '../session/session.ts';
import { AccountChildren } from './account-children.ts';
import { requireReading } from './blocking-fixture.ts';
import { PulseChildLost } from './pulse-child.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const PLAIN = {
  engine: 'postgres',
  port: 5432,
  database: 'postgres',
  username: 'watcher',
  password: WATCHER_PASSWORD,
  tls: 'disable',
  passwordExposable: false,
  caCertificate: null,
  tunnel: null,
} as const;

const good = (): Target => ({ ...PLAIN, connectionType: 'unix_socket', host: store.address[0]?.host ?? '' });

async function hostile(answer: HostileAnswer): Promise<Target> {
  const server = await startHostileServer(answer);
  onTestFinished(() => server.close());
  return { ...PLAIN, connectionType: 'direct', host: '127.0.0.1', port: server.port };
}

function open(): AccountChildren {
  const children = new AccountChildren(true);
  onTestFinished(() => children.end());
  return children;
}

/** The children that pulse, the oldest first. */
const workers = () => findWorkers(process.pid, 'pulse-worker');

/** The first connections, by id. */
const IDS = [1, 2, 3, 4, 5];
const pulseAll = (children: AccountChildren, targets: ReadonlyMap<number, Target>) =>
  Promise.all([...targets].map(async ([id, target]) => requireReading(await children.pulse(id, target))));

test.each<NodeJS.Signals>(['SIGKILL', 'SIGSTOP'])(
  '%s of a child costs its connections no pulse',
  async (signal) => {
    const children = open();
    const targets = new Map(IDS.map((id) => [id, good()] as const));
    await pulseAll(children, targets);
    const [child = 0] = workers();
    send(child, 'SIGSTOP'); // so that all of them are under way
    const pulses = pulseAll(children, targets);
    if (signal !== 'SIGSTOP') send(child, signal);
    expect(await pulses).toHaveLength(IDS.length);
    await waitFor(() => expect(workers()).not.toContain(child));
    // They are read together again when nothing more is lost.
    for (let pulse = 0; pulse < 6; pulse++) await pulseAll(children, targets);
    await waitFor(() => expect(workers()).toHaveLength(1));
  },
);

test('a connection that each child is lost with loses its own pulses only', async () => {
  const children = open();
  const targets = new Map(IDS.map((id) => [id, good()] as const));
  await pulseAll(children, targets);
  // Whenever the server hears something after the login, the process that talks to it dies.
  let losses = 0;
  const deadly = await hostile((sent) => {
    if (sent === 0) return login;
    losses++;
    send(workers().at(-1) ?? 0, 'SIGKILL');
    return null;
  });
  await children.pulse(7, good());
  const lost = children.pulse(7, deadly);
  const others = pulseAll(children, targets);
  await expect(lost).rejects.toThrow(PulseChildLost);
  expect(losses).toBe(3); // with all others, with other suspects, alone
  expect(await others).toHaveLength(IDS.length);
  await expect(children.pulse(7, deadly)).rejects.toThrow(PulseChildLost);
  expect(losses).toBe(4);
  expect(await pulseAll(children, targets)).toHaveLength(IDS.length);
});

const huge = message('D', Buffer.alloc(8 * 1024 * 1024, '['));
const HOSTILE: Record<string, HostileAnswer> = {
  silent: () => null,
  'silent after the login': afterLogin(() => null),
  endless,
  'endless after the login': afterLogin(endless),
  huge: afterLogin(() => huge),
  malformed: afterLogin(() => Buffer.from('T\0\0\0\x08\x7f\xff\xff\xffD\0\0\0\0')),
};

test('hostile servers beside others of their account, and another account: pulses of these go on meanwhile', async () => {
  const [children, others] = [open(), open()];
  const targets = new Map(IDS.map((id) => [id, good()] as const));
  const bad = await Promise.all(
    Object.values(HOSTILE).map(async (answer, at) => [100 + at, await hostile(answer)] as const),
  );
  await Promise.all([pulseAll(children, targets), pulseAll(others, targets)]);
  const before = workers();
  let ended = 0;
  const answers = bad.map(([id, target]) => children.pulse(id, target).finally(() => ended++));
  let pulses = 0;
  while (ended < bad.length) {
    await Promise.all([pulseAll(children, targets), pulseAll(others, targets)]);
    pulses++;
  }
  for (const answer of await Promise.all(answers)) expect(answer).toHaveProperty('failure');
  // Two of them take three seconds to be given up; pulses that waited for them would be two at most.
  expect(pulses).toBeGreaterThan(3);
  expect(workers()).toEqual(before);
});
