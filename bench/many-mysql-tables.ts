import type { Target } from '../src/monitor/session/session.ts';
import { MysqlServer } from '../test/mysql/mysql-server.ts';
import { ENGINE } from '../test/mysql/tested-server.ts';
import { costlyRun, printRun } from './costly-run.ts';
import { fillMysqlTables } from './fill-mysql-tables.ts';
import type { Figure } from './one-run.ts';
import { watcher } from './watched-target.ts';

/** Measures what a run costs a MySQL or MariaDB with so many tables, and prints its slowest checks. */
export async function measureManyMysqlTables(tables: number, figure: Figure): Promise<void> {
  const server = await MysqlServer.start({
    'innodb-buffer-pool-size': '512M',
    'innodb-flush-log-at-trx-commit': '0', // so that the tables are made sooner
  });
  try {
    const began = performance.now();
    await fillMysqlTables(server, tables, 5);
    const seconds = Math.round((performance.now() - began) / 1_000);
    console.log(`${tables} tables, ${3 * tables} indexes, created in ${seconds} s`);
    await server.restart(); // no table is open yet
    const target: Target = { ...watcher, engine: ENGINE, host: server.socket, port: 0, database: '' };
    const limit = tables <= 10_000 ? 3_000 : 10_000;
    for (const when of ['when no table is open', 'after that', 'when all tables have been used']) {
      if (when.startsWith('when all')) await useAll(server);
      const run = await costlyRun(target, server.pid);
      printRun(run);
      figure(`the server's processor time of a run ${when}`, run.seconds * 1_000, 'ms', limit);
    }
  } finally {
    await server.stop();
  }
}

/** MariaDB reads the files of all tables, as if an application had used them. MySQL has read them when it started. */
async function useAll(server: MysqlServer): Promise<void> {
  if (ENGINE === 'mariadb') await server.run('select count(*) from information_schema.innodb_sys_tablestats');
}
