import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import {
  afterLogin,
  column,
  drip,
  endless,
  endOfRows,
  greeting,
  mysqlError,
  ok,
  oversized,
  packet,
  saying,
  sequel,
  switchTo,
} from '../../../test/support/hostile-mysql.ts';
import { type HostileAnswer, startHostileServer } from '../../../test/support/hostile-server.ts';
import { byStatus, shortRuns } from '../../../test/support/short-runs.ts';
import { WATCHER_PASSWORD } from '../../../test/support/store.ts';
import { LIMITS } from '../limits.ts';

const { store, run } = shortRuns();
const watched = (given?: Record<string, unknown>) => store().watched(given);

const oneColumn = Buffer.concat([packet(1, 1), column(2, 'version'), endOfRows(3)]);
const file = packet(1, 0xfb, '/etc/passwd');
const rude = 'no\x1b[2J \u202eway\x07\0';
const politely = () => greeting();

test.each<[string, (socket: Socket) => Buffer | null, HostileAnswer, string, RegExp]>([
  ['says nothing', () => null, () => null, 'CONN_UNREACHABLE', /did not answer within 0.6 s/],
  ['hangs after the login', politely, saying(ok(2)), 'CONN_UNREACHABLE', /did not answer within 0.6 s/],
  ['hangs at the first statement', politely, afterLogin(() => null), 'CONN_UNREACHABLE', /within 0.7 s/],
  ['drips', drip, () => null, 'CONN_UNREACHABLE', /did not answer within 0.6 s/],
  ['drips after the login', politely, afterLogin(drip), 'CONN_UNREACHABLE', /within 0.7 s/],
  ['greets without end', oversized, () => null, 'CONN_UNREACHABLE', /too long a packet/],
  [
    'sends rows without end',
    politely,
    afterLogin((socket) => {
      socket.write(oneColumn);
      return sequel(socket, 4, (sequence) => packet(sequence, 1, 'x'));
    }),
    'CONN_UNREACHABLE',
    /sent too much|within 0.7 s/, // the faster one wins
  ],
  [
    'sends columns without end',
    politely,
    afterLogin((socket) => {
      socket.write(packet(1, 0xfd, 0xff, 0xff, 0xff));
      return endless(socket, () => Buffer.alloc(65_536));
    }),
    'CONN_UNREACHABLE',
    /too many columns/,
  ],
  ['asks for a file', politely, afterLogin(() => file), 'CONN_UNREACHABLE', /a local file/],
  [
    'asks for a clear password',
    politely,
    saying(switchTo(2, 'mysql_clear_password')),
    'CONN_AUTH_FAILED',
    /clear text \(mysql_clear_password\)/,
  ],
  [
    'sends control characters',
    () => mysqlError(0, 1105, rude),
    () => null,
    'CONN_UNREACHABLE',
    /no +\[2J +way/,
  ],
])(
  'a server that %s costs bounded time and bytes, learns no password and delays no other check',
  async (_what, greet, answer, critical, why) => {
    const server = await startHostileServer(answer, greet);
    const address = { connection_type: 'direct', host: '127.0.0.1', port: server.port, tls: 'disable' };
    const [strange, plain] = await Promise.all([watched({ engine: 'mysql', ...address }), watched()]);
    const [result, other] = await Promise.all([run(strange), run(plain)]);
    server.close();
    expect(result.took).toBeLessThan(25_000);
    expect(result.cost.bytes).toBeLessThan(LIMITS.runBytes + 1024 * 1024);
    expect(byStatus(result, 'critical')).toEqual([critical]);
    expect(result.checks.find(({ check_id }) => check_id === critical)?.metric_line).toMatch(why);
    expect(JSON.stringify(result)).not.toMatch(/\\u00|\u202e/);
    const heard = Buffer.concat(server.heard).toString('latin1');
    expect(heard).not.toContain(WATCHER_PASSWORD);
    expect(heard).not.toContain('root:');
    expect(other.took).toBeLessThan(15_000);
    expect(byStatus(other, 'ok')).toContain('CONN_UNREACHABLE');
  },
);
