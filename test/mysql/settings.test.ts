import type mysql from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Check } from '../../src/checks/check.ts';
import type { Row } from '../../src/checks/fault.ts';
import { authLegacy } from '../../src/checks/mysql/auth-legacy.ts';
import { emptyPassword } from '../../src/checks/mysql/empty-password.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { rootRemote } from '../../src/checks/mysql/root-remote.ts';
import { measure } from './measure.ts';
import { MysqlServer, type Settings } from './mysql-server.ts';
import { unusedPort } from './provocations-settings.ts';
import { dialect } from './tested-server.ts';

const VERSION = dialect({ mariadb: 101_119, mysql: 90_704 });

let server: MysqlServer;

// Settings of Debian's packages that differ from those of the other tests.
beforeAll(async () => {
  server = await MysqlServer.start({
    'bind-address': '127.0.0.1',
    'skip-networking': 'OFF',
    port: await unusedPort(),
    ...dialect<Settings>({
      mariadb: {
        'expire-logs-days': '10',
        'local-infile': 'ON',
        'performance-schema': 'OFF',
        'skip-log-bin': 'ON',
        'sync-binlog': '0',
      },
      mysql: {
        'key-buffer-size': '16M',
        'max-binlog-size': '100M',
        'myisam-recover-options': 'BACKUP',
        'plugin-load-add': 'auth_socket.so', // not Debian's: it stands for MariaDB's unix_socket
      },
    }),
  });
});
afterAll(() => server?.stop());

test('a fresh Debian has no finding, but with MariaDB two: no binary log, LOCAL INFILE', async () => {
  const found = [];
  for (const check of mysqlChecks) {
    const { faults } = await measure(server, check);
    found.push(...faults.filter(({ severity }) => severity !== 'info').map(() => check.id));
  }
  expect(found).toEqual(dialect({ mariadb: ['MY_BINLOG_OFF', 'MY_LOCAL_INFILE'], mysql: [] }));
});

test('accounts that are locked or need a password or socket are no fault', async () => {
  const [{ hostname } = {}] = await server.run('select @@hostname as hostname');
  await server.run([
    'create user locked@localhost account lock',
    "create user ''@localhost account lock",
    ...dialect({
      mariadb: [
        "create user ''@'%' identified via unix_socket",
        "create user unasked@localhost identified via unix_socket or mysql_native_password using 'invalid'",
      ],
      mysql: ["create user ''@'%' identified with auth_socket"],
    }),
    'create role readers',
    `create user root@'127.0.0.1' identified by 'some password', root@'::1' identified by 'some password'`,
    `create user root@'${String(hostname)}' identified by 'some password'`,
    "create user root@'10.1.%' identified by 'some password' account lock",
  ]);
  for (const check of [emptyPassword, rootRemote, authLegacy]) {
    const { faults, passMessage, skipped } = await measure(server, check);
    expect([check.id, faults, skipped]).toEqual([check.id, [], undefined]);
    expect(passMessage).toMatch(
      /^None of [0-9]+ accounts (is anonymous or has|lets root log in|uses an outdated) /,
    );
  }
});

test('account names leave the server, hashes do not', async () => {
  await server.run('create user blank@localhost');
  const session = await server.open('watcher', '');
  try {
    const [count = '', picked = ''] = [emptyPassword.sql(VERSION)].flat();
    const [[counted]] = await session.query<(mysql.RowDataPacket & Row)[]>(count);
    const [accounts] = await session.query<(mysql.RowDataPacket & Row)[]>(picked);
    expect(Object.keys(counted ?? {})).toEqual(['accounts', 'faulty', 'keepers', 'read_only']);
    expect(accounts).toEqual([{ user: 'blank', host: 'localhost', own: 0, replicates: 0 }]);
  } finally {
    await session.end();
    await server.run('drop user blank@localhost');
  }
});

test('the statements for MySQL 8.4 run on a table with the columns of its manual', async () => {
  await server.run([
    `create table user (Host char(255), User char(32), plugin char(64), authentication_string text,
                        account_locked enum('N','Y'), Super_priv enum('N','Y') default 'N',
                        Create_user_priv enum('N','Y') default 'N', Grant_priv enum('N','Y') default 'N',
                        primary key (Host, User))`,
    `insert into user (Host, User, plugin, authentication_string, account_locked) values ('localhost', 'mysql.sys', 'caching_sha2_password', '$A$005$THISISACOMBINATION', 'Y'),
                             ('%', 'reader', 'caching_sha2_password', '', 'Y'),
                             ('%', 'app', 'caching_sha2_password', '$A$005$0123', 'N'),
                             ('%', 'blank', 'caching_sha2_password', '', 'N'),
                             ('localhost', '', 'mysql_native_password', '*1234', 'N'),
                             ('localhost', 'root', 'auth_socket', '', 'N'),
                             ('%', 'root', 'caching_sha2_password', '$A$005$4567', 'N')`,
  ]);
  const picked = async (check: Check) => {
    const [, statement = ''] = [check.sql(80_404)].flat();
    const rows = await server.run(
      statement
        .replace('mysql.user', 'shop.user')
        // MariaDB has no plugin of MySQL, and MySQL 9 not mysql_native_password.
        .replaceAll(
          `plugin_status = 'ACTIVE'`,
          `plugin_status = 'ACTIVE' union select 'caching_sha2_password' union select 'mysql_native_password'`,
        ),
    );
    return rows.map(({ user, host }) => `${user}@${host}`);
  };
  expect(await picked(emptyPassword)).toEqual(['@localhost', 'blank@%']);
  expect(await picked(rootRemote)).toEqual(['root@%']);
  expect(await picked(authLegacy)).toEqual(['@localhost']);
});

test('without the privilege the server refuses to show accounts', async () => {
  for (const check of [emptyPassword, rootRemote, authLegacy]) {
    expect([check.privilege?.(VERSION)].flat()[0]).toMatch(
      dialect({ mariadb: /^SELECT ON mysql.global_priv$/, mysql: /^SELECT \(.*\) ON mysql.user$/ }),
    );
    await expect(measure(server, check, {}, 'stranger')).rejects.toMatchObject({ errno: 1142 });
  }
});
