import { afterAll, beforeAll, expect, test } from 'vitest';
import { groupMemberDown } from '../../src/checks/mysql/group-member-down.ts';
import { isFaulty, isWell, portOf, started, stopAll, until } from './mysql-replicas.ts';
import { type MysqlServer, PASSWORD } from './mysql-server.ts';
import { paste } from './paste.ts';
import { unusedPort } from './provocations-settings.ts';

afterAll(stopAll);

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
      }),
    ),
  );
  const join = `start group_replication user = 'copier', password = '${PASSWORD}'`;
  const [first, ...others] = group;
  await first?.run(['set global group_replication_bootstrap_group = on', join]);
  await first?.run('set global group_replication_bootstrap_group = off');
  for (const other of others) await other.run(join);
});

test('a group of three: one is killed, and is not in the group when it starts again', async () => {
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

  await third.resume();
  const offline = await until(third, groupMemberDown, isFaulty);
  expect(offline.faults).toMatchObject([{ severity: 'critical', object }]);
  expect(offline.faults[0]?.metricLine).toContain('has left its group');
});
