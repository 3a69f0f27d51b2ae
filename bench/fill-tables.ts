import type { PostgresServer } from '../test/checks/postgres-server.ts';

// Tables of one statement, and of one transaction: a new table holds about 12 locks until its transaction ends.
const BATCH = 1_000;
const TRANSACTION = 50;

/** Creates tables with three indexes, a sequence, a foreign key and `rows` rows each. */
export async function fillTables(server: PostgresServer, tables: number, rows: number): Promise<void> {
  for (let first = 1; first <= tables; first += BATCH) {
    await server.run(`
      do $$ begin
        for n in ${first}..${Math.min(first + BATCH - 1, tables)} loop
          execute format('create table t%s (id serial primary key, a int, b text, c int references t%s)', n, greatest(n - 1, 1));
          execute format('insert into t%s (a, b) select i, md5(i::text) from generate_series(1, ${rows}) i', n);
          execute format('create index on t%s (a)', n);
          execute format('create index on t%s (b, c)', n);
          if n % ${TRANSACTION} = 0 then commit; end if;
        end loop;
      end $$`);
  }
  await server.run('vacuum analyze');
}
