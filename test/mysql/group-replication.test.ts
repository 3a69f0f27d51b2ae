import { afterAll, beforeAll, expect, test } from 'vitest';
import { groupMemberDown } from '../../src/checks/mysql/group-member-down.ts';
import { replicaLag } from '../../src/checks/mysql/replica-lag.ts';
import { replicaStopped } from '../../src/checks/mysql/replica-stopped.ts';
import { replicaWritable } from '../../src/checks/mysql/replica-writable.ts';
import { pasteableOn } from '../support/page-statements.ts';
import { measure } from './measure.ts';
import { isFaulty, isWell, portOf, started, stopAll, until } from './mysql-replicas.ts';
import { type MysqlServer, PASSWORD } from './mysql-server.ts';
import { paste } from './paste.ts';
import { unusedPort } from './provocations-settings.ts';

afterAll(stopAll);

const JOIN = `start group_replication user = 'copier', password = '${PASSWORD}'`;

let group: MysqlServer[];
beforeAll(async () => {
  const addresses = await Promise.all([1, 2, 3].map(async () => `127.0.0.1:${await unusedPort()}`));
  group = await Promise.all(
    addresses.map((address, at) =>
      started(at + 1, {
        'plugin-load-add': 'group_replication.so',
        'loose-group-replication-group-name': '7f0c4f52-2f0f-4b7c-9e55-9a4f5ad8a001',
        'loose-group-replication-start-on-boot': 'OFF',
        'loose-group-replication-local-address': address,
        'loose-group-replication-group-seeds': addresses.join(','),
        'loose-group-replication-recovery-get-public-key': 'ON',
        'loose-group-replication-member-expel-timeout': '3600', // a lost member stays to be seen
        'loose-group-replication-exit-state-action': 'READ_ONLY', // 9.7's own, OFFLINE_MODE, rejects the watcher
      }),
    ),
  );
  const [first, ...others] = group;
  await first?.run(['set global group_replication_bootstrap_group = on', JOIN]);
  await first?.run('set global group_replication_bootstrap_group = off');
  for (const other of others) await other.run(JOIN);
});

test('the members of a group are no replicas that stopped or can be written to, also when another one becomes the primary', async () => {
  const [first, second, third] = group as [MysqlServer, MysqlServer, MysqlServer];
  const primaryIs = (member: MysqlServer) =>
    `select member_port = ${portOf(member)} from performance_schema.replication_group_members where member_role = 'PRIMARY'`;
  for (const primary of [first, second, first]) {
    await first.run(
      `select group_replication_set_as_primary(member_id) from performance_schema.replication_group_members where member_port = ${portOf(primary)}`,
    );
    await first.until(primaryIs(primary));
    for (const member of [first, second, third])
      for (const check of [replicaStopped, replicaWritable, replicaLag, groupMemberDown])
        expect((await measure(member, check)).faults, `${check.id} ${portOf(member)}`).toEqual([]);
  }
});

test('a source that is left over on a secondary is never to be started: it would write beside the group', async () => {
  const [first, second] = group as [MysqlServer, MysqlServer, MysqlServer];
  await second.run(
    `change replication source to source_host = '127.0.0.1', source_port = 1, source_user = 'copier', source_auto_position = 1 for channel 'old'`,
  );
  const { faults } = await measure(second, replicaStopped);
  expect(faults).toMatchObject([{ object: '`old`' }]);
  expect(faults[0]?.metricLine).toMatch(
    /is a member of a cluster\. If it is the primary now, or its data come from the cluster, remove/,
  );
  paste(second, /If so: (.*) If it is/.exec(faults[0]?.remediation ?? '')?.[1] ?? '');
  expect(await measure(second, replicaStopped)).toMatchObject({ faults: [] });
  expect((await until(first, groupMemberDown, isWell)).passMessage).toBe(
    '3 members of the group, all online.',
  );
});

test('a group of three: one is killed, and is back in the group after its finding', async () => {
  const [first, second, third] = group as [MysqlServer, MysqlServer, MysqlServer];
  const object = `127.0.0.1:${portOf(third)}`;
  const all = await until(first, groupMemberDown, isWell);
  expect(all.passMessage).toBe('3 members of the group, all online.');

  await third.pause('SIGKILL');
  for (const member of [first, second]) {
    const lost = await until(member, groupMemberDown, isFaulty);
    expect(lost.faults).toMatchObject([{ severity: 'critical', object }]);
    expect(lost.faults[0]?.metricLine).toContain('does not answer the group');
    expect(paste(member, lost.faults[0]?.remediation ?? '')).toContain('UNREACHABLE');
  }

  // The group lets a member in again when it has expelled what it was before.
  for (const member of [first, second]) {
    await member.run('set global group_replication_member_expel_timeout = 0');
    await until(member, groupMemberDown, isWell);
  }
  await first.run(['create table fruit (name varchar(9) primary key)', "insert into fruit values ('apple')"]);
  await third.resume();
  const remediation = await left(third, 'OFFLINE', 'has left its group');
  // Nothing but START GROUP_REPLICATION named the login, and the server has lost it.
  expect(paste(third, remediation).trim()).toBe('');
  paste(third, named(remediation));
  await untilBack(third, 'apple');
});

test('a member that keeps its login is started again by the statement as it is', async () => {
  const [first, , third] = group as [MysqlServer, MysqlServer, MysqlServer];
  await third.run([
    'stop group_replication',
    `change replication source to source_user = 'copier', source_password = '${PASSWORD}' for channel 'group_replication_recovery'`,
  ]);
  await third.restart();
  await first.run("insert into fruit values ('pear')");
  paste(third, await left(third, 'OFFLINE', 'has left its group'));
  await untilBack(third, 'pear');
});

test.each([
  ['keeps its login', 'copier', 'plum', (remediation: string) => remediation],
  ['keeps no login', '', 'fig', named],
])('a member that failed and %s is back after its finding', async (_, login, name, statement) => {
  const [first, , third] = group as [MysqlServer, MysqlServer, MysqlServer];
  await third.run([
    'stop group_replication',
    `change replication source to source_user = '${login}' for channel 'group_replication_recovery'`,
    login === '' ? JOIN : 'start group_replication',
  ]);
  await untilBack(third);
  await third.run(without(`insert into fruit values ('${name}')`));
  await first.run(`insert into fruit values ('${name}')`);
  const remediation = await left(third, 'ERROR', 'failed and applies nothing');
  await third.run(without(`delete from fruit where name = '${name}'`)); // what its log names
  paste(third, statement(remediation));
  await untilBack(third, name);
});

test('a member that went offline is back with the statements of the page', async () => {
  const [first, , third] = group as [MysqlServer, MysqlServer, MysqlServer];
  const { statements } = pasteableOn('MY_GROUP_MEMBER_DOWN');
  const [look = '', stop = '', start = '', login = '', startNamed = '', keep = '', accept = '', ...more] =
    statements.map((statement) => withLogin(statement));
  expect(more).toEqual([]);
  await third.run([
    'stop group_replication',
    "change replication source to source_user = '' for channel 'group_replication_recovery'",
    "set global group_replication_exit_state_action = 'OFFLINE_MODE'",
    JOIN,
  ]);
  await untilBack(third);
  await third.run(without(`insert into fruit values ('kiwi')`));
  await first.run(`insert into fruit values ('kiwi')`);
  await third.until('select @@global.offline_mode = 1');
  await expect(measure(third, groupMemberDown)).rejects.toThrow(/offline mode/);

  expect(paste(third, look)).toContain('ERROR');
  await third.run(without(`delete from fruit where name = 'kiwi'`)); // what its log names
  paste(third, stop);
  expect(paste(third, login).trim()).toBe('');
  paste(third, startNamed);
  await third.until(ONLINE);
  paste(third, stop);
  paste(third, keep);
  expect(paste(third, login).trim()).toBe('copier');
  paste(third, start);
  await third.until(ONLINE);
  await expect(measure(third, groupMemberDown)).rejects.toThrow(/offline mode/);
  paste(third, accept);
  await untilBack(third, 'kiwi');
});

const ONLINE =
  "select count(*) = 3 and min(member_state) = 'ONLINE' and max(member_state) = 'ONLINE' from performance_schema.replication_group_members";

/** The statements that write to a member alone. */
function without(write: string): string[] {
  const [readOnly, log] = ['set global super_read_only =', 'set sql_log_bin = 0'];
  return [`${readOnly} off`, log, write, `${readOnly} on`];
}

/** The remediation of a member that is not in the group any more. */
async function left(member: MysqlServer, state: string, words: string): Promise<string> {
  await member.until(`select member_state = '${state}' from performance_schema.replication_group_members`);
  const { faults } = await until(member, groupMemberDown, isFaulty);
  expect(faults).toMatchObject([{ severity: 'critical', object: `127.0.0.1:${portOf(member)}` }]);
  expect(faults[0]?.metricLine).toContain(words);
  return faults[0]?.remediation ?? '';
}

/** The statement that the note of steps gives, with the login of the group. */
function named(remediation: string): string {
  const [, statement = ''] = /-- .*?: run (.*;) with the replication login/.exec(remediation) ?? [];
  return withLogin(statement);
}

/** With the group's login in place of that of the example. */
function withLogin(statement: string): string {
  return statement.replace("'name'", "'copier'").replace("'password'", `'${PASSWORD}'`);
}

/** Waits until the member is online in a group of three, and has the row. */
async function untilBack(member: MysqlServer, name?: string): Promise<void> {
  const all = await until(member, groupMemberDown, isWell);
  expect(all.passMessage).toBe('3 members of the group, all online.');
  if (name !== undefined) await member.until(`select count(*) = 1 from fruit where name = '${name}'`);
}
