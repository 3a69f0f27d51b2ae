import { describe, expect, test } from 'vitest';
import { expectMeasures } from '../../../test/support/expect-measures.ts';
import { type SeenJudgement, seen } from '../../../test/support/seen-judgement.ts';
import type { Check } from '../check.ts';
import type { Row } from '../fault.ts';
import { type JudgementInput, judgementOf } from '../judgement-of.ts';
import { galeraUnsynced } from './galera-unsynced.ts';
import { groupMemberDown } from './group-member-down.ts';

const [MYSQL_80, MYSQL_84, MARIADB] = [80_021, 80_404, 101_119];

const judge = (check: Check, rows: Row[], facts: Partial<JudgementInput> = {}): SeenJudgement => {
  const now = new Date('2026-11-21');
  const judgement = seen(judgementOf(check, rows, { version: MARIADB, database: '', now, ...facts }));
  expectMeasures(check, judgement);
  return judgement;
};

/** As SHOW gives them: all values are text. */
const shown = (figures: Record<string, string | number>): Row[] =>
  Object.entries(figures).map(([name, value]) => ({ Variable_name: name, Value: String(value) }));

describe('Galera', () => {
  const node = {
    Uptime: 9_000,
    wsrep_connected: 'ON',
    wsrep_ready: 'ON',
    wsrep_cluster_status: 'Primary',
    wsrep_local_state: 4,
    wsrep_local_state_comment: 'Synced',
    wsrep_flow_control_paused_ns: 0,
    wsrep_provider: '/usr/lib/libgalera_smm.so',
    wsrep_on: 'ON',
    wsrep_desync: 'OFF',
  };
  const before = { rows: shown(node), seconds: 100 };

  test.each<[string, Record<string, string | number>]>([
    ['MySQL', { Uptime: 9 }],
    [
      'a plain MariaDB',
      { Uptime: 9, wsrep_provider: 'none', wsrep_on: 'OFF', wsrep_ready: 'OFF', wsrep_connected: 'OFF' },
    ],
    [
      'one that was started without',
      { ...node, wsrep_on: 'OFF', wsrep_ready: 'OFF', wsrep_connected: 'OFF' },
    ],
  ])('%s is no node', (_, figures) => {
    expect(judge(galeraUnsynced, shown(figures))).toEqual({
      faults: [],
      passMessage: 'This server is not a Galera node.',
      measures: [],
    });
  });

  test.each<[Record<string, string | number>, string[]]>([
    [{}, []],
    [{ wsrep_on: 'OFF' }, ['critical']],
    [{ wsrep_cluster_status: 'non-Primary', wsrep_ready: 'OFF', wsrep_local_state: 0 }, ['critical']],
    [{ wsrep_cluster_status: 'Disconnected', wsrep_connected: 'OFF', wsrep_ready: 'OFF' }, ['critical']],
    [{ wsrep_ready: 'OFF', wsrep_local_state: 1, wsrep_local_state_comment: 'Joining' }, ['critical']],
    [{ wsrep_local_state: 3, wsrep_local_state_comment: 'Joined' }, ['warning']],
    [{ wsrep_local_state: 2, wsrep_local_state_comment: 'Donor/Desynced' }, ['warning']],
    [{ wsrep_flow_control_paused_ns: 1.9e9 }, []],
    [{ wsrep_flow_control_paused_ns: 2e9 }, ['warning']],
    [{ wsrep_local_state: 3, wsrep_flow_control_paused_ns: 2e9 }, ['warning', 'warning']],
  ])('%j: %j', (given, severities) => {
    const judgement = judge(galeraUnsynced, shown({ ...node, ...given }), { before });
    expect(judgement.faults.map(({ severity }) => severity)).toEqual(severities);
    expect(new Set(judgement.faults.map(({ object }) => object)).size).toBe(severities.length);
    expect(judgement.skipped).toBeUndefined();
  });

  test.each<[string, Record<string, string | number>, JudgementInput['before']]>([
    ['the first run', {}, undefined],
    ['a restart', { Uptime: 99 }, before],
    ['a reset', {}, { ...before, rows: shown({ ...node, wsrep_flow_control_paused_ns: 7 }) }],
    ['a time without the cluster', {}, { ...before, rows: shown({ wsrep_connected: 'OFF' }) }],
    ['a moment', {}, { ...before, seconds: 4 }],
  ])('after %s flow control is skipped, the state is reported', (_, given, last) => {
    const facts = last ? { before: last } : {};
    expect(judge(galeraUnsynced, shown({ ...node, ...given }), facts).skipped).toMatch(
      /^Not measured: flow control/,
    );
    const desynced = shown({ ...node, ...given, wsrep_local_state: 2 });
    const judgement = judge(galeraUnsynced, desynced, facts);
    expect(judgement).toMatchObject({ faults: [{ severity: 'warning', object: null }], truncated: true });
    expect(judgement.skipped).toBeUndefined();
  });

  test('in Percona wsrep_on exists only per session', () => {
    const { wsrep_on: _, ...percona } = node;
    expect(judge(galeraUnsynced, shown(percona), { version: MYSQL_80, before }).passMessage).toContain(
      'is synced',
    );
  });
});

describe('group replication', () => {
  const group = shown({ performance_schema: 'ON', read_only: 'OFF', group_replication_group_name: 'a-b' });
  const member = (host: string, state: string, recovery_login: string | null = null): Row => ({
    host,
    port: host === '' ? null : 3306,
    state,
    recovery_login,
  });

  test('MariaDB gets no statement for members', () => {
    expect([groupMemberDown.sql(MARIADB)].flat().join()).not.toContain('replication_group_members');
    expect([groupMemberDown.sql(MYSQL_84)].flat().join()).toContain('replication_group_members');
  });

  test('a server without a group is "ok", one without a row is an error', () => {
    const none = { faults: [], passMessage: 'This server is not in a replication group.', measures: [] };
    expect(judge(groupMemberDown, shown({ performance_schema: 'OFF', read_only: 'OFF' }))).toEqual(none);
    const named = shown({ performance_schema: 'ON', read_only: 'OFF', group_replication_group_name: '' });
    expect(judge(groupMemberDown, [...named, member('', 'OFFLINE')])).toEqual(none);
    expect(() => judge(groupMemberDown, [])).toThrow(TypeError);
  });

  test('without performance_schema the check is skipped', () => {
    const blind = shown({ performance_schema: 'OFF', read_only: 'OFF', group_replication_group_name: 'a-b' });
    expect(judge(groupMemberDown, blind).skipped).toContain('performance_schema is off');
  });

  test.each<[Row[], [string, string | null][]]>([
    [[member('db-1', 'ONLINE'), member('db-2', 'ONLINE')], []],
    [[member('db-1', 'ONLINE'), member('db-2', 'RECOVERING')], [['warning', 'db-2:3306']]],
    [
      [member('db-1', 'ERROR'), member('db-2', 'UNREACHABLE')],
      [
        ['critical', 'db-1:3306'],
        ['critical', 'db-2:3306'],
      ],
    ],
    [[member('', 'OFFLINE')], [['critical', null]]],
    [[], [['critical', null]]],
  ])('members %j: %j', (members, expected) => {
    const { faults } = judge(groupMemberDown, [...group, ...members], { version: MYSQL_84 });
    expect(faults.map(({ severity, object }) => [severity, object])).toEqual(expected);
  });

  test.each([
    ['OFFLINE', 'copier', /^START GROUP_REPLICATION; -- on db-1:3306$/],
    ['OFFLINE', '', /^SELECT user .* run START GROUP_REPLICATION USER = 'name', .* on db-1:3306; without/],
    ['ERROR', 'copier', /^STOP GROUP_REPLICATION; START GROUP_REPLICATION; -- on db-1:3306, after/],
    ['ERROR', '', /^SELECT user .* run STOP GROUP_REPLICATION; START GROUP_REPLICATION USER = 'name'/],
    ['ERROR', null, /^SELECT user .* if it shows no name/],
  ])('%s with the login %j for recovery is started again as it can be', (state, login, expected) => {
    const { faults } = judge(groupMemberDown, [...group, member('db-1', state, login)], {
      version: MYSQL_84,
    });
    expect(faults[0]?.remediation).toMatch(expected);
  });
});
