import type { MysqlServer } from '../test/mysql/mysql-server.ts';
import { numbers } from '../test/mysql/tested-server.ts';

const BATCH = 1_000;

/** Creates tables with three indexes, a foreign key and `rows` rows each. */
export async function fillMysqlTables(server: MysqlServer, tables: number, rows: number): Promise<void> {
  await server.run(`
    create procedure fill(first int, last int)
    begin
      declare n int default first;
      while n <= last do
        set @statement = concat(
          'create table t', n, ' (id int auto_increment primary key, a int, b varchar(40), c int, key ab (a, b), key (c), ',
          'foreign key (c) references t', greatest(n - 1, 1), ' (id))');
        prepare made from @statement;
        execute made;
        set @statement = concat('insert into t', n, ' (a, b) select seq, concat(''row '', seq) from ${numbers(1, rows)}');
        prepare made from @statement;
        execute made;
        set n = n + 1;
      end while;
    end`);
  for (let first = 1; first <= tables; first += BATCH) {
    const last = Math.min(first + BATCH - 1, tables);
    await server.run(['set sql_log_bin = 0', 'set foreign_key_checks = 0', `call fill(${first}, ${last})`]);
  }
}
