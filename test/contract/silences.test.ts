import { expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { read } from './ask.ts';
import { command } from './command.ts';
import { fixtureJson } from './fixture-command.ts';
import { type Connection, type HealthCheck, integer, type List, type Ticket, time } from './records.ts';

const CHECK = 'PG_SHARED_BUFFERS_LOW';

/** A connection to the suite's store, with one threshold set so that it has a warning. */
async function faultyConnection(account: number): Promise<string> {
  const { id } = await fixtureJson<Connection>([
    'connection',
    'add',
    '--account',
    String(account),
    '--name',
    'store',
    '--tls',
    'disable',
    '--url',
    inject('sharedStore')['DATABASE_URL'] ?? '',
    '--threshold',
    `${CHECK}.warning_bytes=999999999999`,
  ]);
  return String(id);
}

/** The score of findings without a critical one: what is silenced is `skipped`, and weighs nothing. */
function scoreOf(checks: HealthCheck['checks']): number {
  const found = (status: string) => checks.filter((finding) => finding.status === status);
  const warnings = Map.groupBy(found('warning'), ({ check_id }) => check_id);
  const weights = [...warnings.values()].map((each) => Math.min(8 + each.length - 1, 15));
  const warned = Math.min(
    weights.reduce((sum, weight) => sum + weight, 0),
    45,
  );
  return 100 - warned - Math.min(new Set(found('info').map(({ check_id }) => check_id)).size, 5);
}

test('a silence skips its finding and resolves its ticket; when it ends, the ticket reopens', async () => {
  const { id, key } = await makeAccount();
  const connection = await faultyConnection(id);
  const run = () => fixtureJson<HealthCheck>(['check', 'run', '--connection', connection]);
  const finding = async () => (await run()).checks.find(({ check_id }) => check_id === CHECK);
  const ticket = async () => {
    const { data } = await read<List<Ticket>>('/api/v1/ops/tickets', key);
    return data.find(({ check_id }) => check_id === CHECK)?.status;
  };
  const before = await run();
  expect(before.checks.find(({ check_id }) => check_id === CHECK)?.status).toBe('warning');
  expect(await ticket()).toBe('open');

  const add = ['silence', 'add', '--connection', connection, '--check', CHECK];
  const silence = await fixtureJson<{ id: number }>([
    ...add,
    '--reason',
    'accepted_risk',
    '--note',
    'a small machine',
    '--until',
    '7d',
  ]);
  expect(silence).toEqual({
    id: integer,
    connection_id: Number(connection),
    check_id: CHECK,
    object: null,
    reason: 'accepted_risk',
    note: 'a small machine',
    created_at: time,
    until: time,
  });
  expect(await ticket()).toBe('resolved');
  expect(await fixtureJson(['silence', 'list', '--account', String(id)])).toEqual([silence]);
  expect(await finding()).toMatchObject({
    status: 'skipped',
    severity: 'warning',
    metric_line: expect.stringMatching(
      /^Silenced until \S+Z \(accepted_risk: a small machine\): shared_buffers is /,
    ),
  });
  const { score, summary_text, checks } = await run();
  expect([score, summary_text]).toEqual([scoreOf(checks), expect.stringContaining('; 1 silenced')]);
  expect(before.score).toBe(scoreOf(before.checks));

  await fixtureJson(['silence', 'end', String(silence.id)]);
  expect(await fixtureJson(['silence', 'list', '--connection', connection])).toEqual([]);
  expect(await finding()).toMatchObject({ status: 'warning' });
  expect(await ticket()).toBe('open');

  const told = (await readLog(key)).filter(
    ({ action_type, properties }) =>
      /^(silence|ticket)_/.test(action_type) && properties['check_id'] === CHECK,
  );
  expect(told.map(({ action_type }) => action_type)).toEqual([
    'ticket_opened',
    'silence_added',
    'ticket_resolved',
    'silence_ended',
    'ticket_reopened',
  ]);
  expect(told[1]).toMatchObject({
    page_path: `/connections/${connection}`,
    properties: {
      silence_id: silence.id,
      check_id: CHECK,
      object: null,
      reason: 'accepted_risk',
      note: 'a small machine',
      until: time,
      actor: 'command line',
    },
  });
  expect(told[2]?.properties).toMatchObject({ reason: 'silenced: accepted_risk' });
});

test('invalid silences: an unknown check, a wrong date, a silence that has ended', async () => {
  const { id, key } = await makeAccount();
  const connection = await faultyConnection(id);
  const add = ['silence', 'add', '--connection', connection, '--reason', 'wont_fix', '--note', 'x'];
  const unknown = await command([...add, '--check', 'PG_NONSENSE']);
  expect([unknown.exit, unknown.stderr]).toEqual([2, expect.stringContaining('PG_NONSENSE')]);
  for (const until of ['2020-01-01', '2030-02-30', 'soon', '0s']) {
    expect((await command([...add, '--check', CHECK, '--until', until])).exit, until).toBe(2);
  }
  const { id: silence } = await fixtureJson<{ id: number }>([...add, '--check', CHECK.toLowerCase()]);
  await fixtureJson(['silence', 'end', String(silence)]);
  expect((await command(['silence', 'end', String(silence)])).exit).toBe(1);
  const silences = (await readLog(key)).filter(({ action_type }) => action_type.startsWith('silence_'));
  expect(silences).toHaveLength(2);
});
