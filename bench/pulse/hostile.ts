import { PASSWORD, PostgresServer } from '../../test/checks/postgres-server.ts';
import {
  afterLogin,
  drip,
  endless,
  type HostileAnswer,
  startHostileServer,
} from '../../test/support/hostile-server.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import type { Figure } from '../one-run.ts';
import { startProgram, stopProgram } from '../start-program.ts';
import { addConnections, makeRoom } from './add-connections.ts';
import { lateBy, watchPulses } from './watch-pulses.ts';

const HONEST = 50;
const EVERY_S = 10;
const SETTLE_MS = 45_000;
const MEASURED_S = 90;
/** How much later the others of the account may be. */
const LATE_LIMIT_S = 1;
/** What the clock of a busy machine does to an account that nothing disturbs. */
const OTHER_LIMIT_S = 0.25;

const HOSTILE: Record<string, HostileAnswer> = {
  silent: () => null,
  'silent after the login': afterLogin(() => null),
  'slow, a byte at a time': afterLogin(drip),
  endless: afterLogin(endless),
  huge: afterLogin(() =>
    Buffer.concat([Buffer.from('D'), Buffer.from([0x40, 0, 0, 0]), Buffer.alloc(1 << 20)]),
  ),
  malformed: afterLogin(() => Buffer.from('T\0\0\0\u0001\u00ff\u00ff')),
};

/** Measures how late the pulses of 50 connections are beside hostile servers of their account, and those of another account. */
export async function measureHostile(figure: Figure): Promise<void> {
  const [store, beside, other] = await Promise.all([
    startTestStore(),
    PostgresServer.start(),
    PostgresServer.start(),
  ]);
  const hostile = await Promise.all(Object.values(HOSTILE).map((answer) => startHostileServer(answer)));
  for (const server of [beside, other]) await makeRoom(server, HONEST);
  const accountId = await addConnections(store, beside, { count: HONEST, checks: 'none' });
  await addConnections(store, other, { count: HONEST, checks: 'none' });
  for (const { port } of hostile) await addHostile(store, accountId, port);
  const monitor = startProgram(store, 'monitor', { DBVITALS_ALLOW_PRIVATE_TARGETS: 'yes' });
  try {
    console.log(
      `${HONEST} connections beside servers that are ${Object.keys(HOSTILE).join(', ')}; ${HONEST} of another account`,
    );
    const clients = await Promise.all([beside.open(), other.open()]);
    await new Promise((settled) => setTimeout(settled, SETTLE_MS));
    const [ofAccount = [], ofOther = []] = await Promise.all(
      clients.map((client) => watchPulses(client, MEASURED_S)),
    );
    for (const [whose, intervals, limit] of [
      ['of the account', ofAccount, LATE_LIMIT_S],
      ['of the other account', ofOther, OTHER_LIMIT_S],
    ] as const) {
      const late = lateBy(intervals, EVERY_S);
      figure(`pulses ${whose}, of ${(HONEST * MEASURED_S) / EVERY_S}`, late.length, '');
      figure('late by, p99', late[Math.floor(late.length * 0.99)] ?? Number.POSITIVE_INFINITY, 's', limit);
      figure('late by, at most', late.at(-1) ?? Number.POSITIVE_INFINITY, 's');
    }
    await Promise.all(clients.map((client) => client.end()));
  } finally {
    await stopProgram(monitor);
    for (const server of hostile) server.close();
    await Promise.all([store, beside, other].map((each) => each.stop()));
  }
}

async function addHostile(store: TestStore, accountId: number, port: number): Promise<void> {
  const place = {
    host: '127.0.0.1',
    port,
    connection_type: 'direct',
    database: 'shop',
    name: `hostile ${port}`,
  };
  const connectionId = await store.connection(accountId, place);
  await store.set({ accountId, connectionId }, {}, { password: PASSWORD });
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, '1 d', now() + interval '1 d')`,
    [accountId, connectionId],
  );
}
