import { describe, expect, test } from 'vitest';
import { readCatalogueRead } from './catalogue-reads.ts';
import { DUMP_STATEMENTS } from './catalogue-reads-fixture.ts';

test.each(DUMP_STATEMENTS)('what pg_dump reads is the catalogue: %s', (text) => {
  const read = readCatalogueRead('postgres', text);
  expect(read?.relations.filter((name) => !name.startsWith('pg_'))).toEqual([]);
});

describe('PostgreSQL', () => {
  test.each([
    `select count(*) filter (where state = $1), extract(epoch from max(now() - query_start)) from pg_stat_activity`,
    `/* nagios */ select d.datname as "name", pg_database_size(d.oid) from pg_catalog.pg_database d, pg_stat_database s where s.datid = d.oid -- all`,
    `select table_name from information_schema.tables t where not exists (select from information_schema.columns c where c.table_name = t.table_name)`,
    `with locks as materialized (select * from pg_locks), w (pid, n) as (select pid, count(*) over (partition by pid) from locks group by (pid)) select * from w join locks using (pid)`,
    `with recursive tree as (select inhrelid from pg_inherits union all select i.inhrelid from pg_inherits i join tree t on t.inhrelid = i.inhparent) select * from tree`,
    `select a.attname, k.n from pg_index i cross join lateral unnest(i.indkey) with ordinality as k (attnum, n) left join pg_attribute a on a.attrelid = i.indrelid and a.attnum is not distinct from k.attnum`,
    `SELECT c.oid, n.nspname FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) $1 COLLATE pg_catalog.default ORDER BY 2, 3;`,
    `select query, calls from "Extra stats".pg_stat_statements order by total_exec_time desc limit $1`,
    `(select 'users' from pg_class) union all select $$ from users $$ from (select 1 from pg_type) as t(users)`,
    `select pg_total_relation_size($1), pg_size_pretty(pg_relation_size($2))`,
    `select * from (pg_class c join pg_index i on i.indexrelid = c.oid), pg_am`,
  ])('only the catalogue: %s', (text) => {
    expect(readCatalogueRead('postgres', text)).not.toBeNull();
  });

  test.each([
    `select * from users where name = 'pg_class' -- from pg_class`,
    `select /* from pg_catalog.pg_class */ id from orders where pg_catalog.lower(note) = $1`,
    `select $$ from pg_class $$ from users`,
    `select * from pg_class c, users`,
    `select * from pg_class c join pg_index i on i.indrelid = c.oid, users u`,
    `select * from pg_class c left join public.users u on true`,
    `select * from pg_class where oid in (select id from users)`,
    `select (select count(*) from users), relname from pg_class`,
    `select extract(epoch from (select max(at) from users)) from pg_class`,
    `select substring(x from y) from users`,
    `with users as (select * from users) select * from users, pg_class`,
    `with a as (select * from b), b as (select 1 from pg_class) select * from a`,
    `select * from pg_class where exists (with users as (select from pg_class) select from users) and oid in (select id from users)`,
    `with x as (delete from users returning *) select * from pg_class`,
    `select * from pg_class union table users`,
    `select * from pg_class union select distinct id from users`,
    `select * from pg_class minus (select * from users)`,
    `select * from pg_class as c (select) , users`,
    `select relname into copies from pg_class`,
    `select public.report(oid) from pg_class`,
    `select * from app.report(1), pg_class`,
    `select table_to_xml('users', true, true, '') from pg_class`,
    `select data from pg_largeobject`,
    `select * from pg_toast.pg_toast_1234, pg_class`,
    `select * from "Users", pg_class`,
    `select * from pg_class where 'a\\' = $1 or 'b' in (select name from users)`,
    `select * from pg_class; select * from users`,
    `select * from pg_class for update`,
    `select pg_sleep($1)`,
    `select count(*) from generate_series($1, $2)`,
    `select 'from pg_class`,
    `select 1 from pg_class) from users`,
    `prepare mine as select * from users, pg_class`,
    `insert into users select from pg_class`,
    `update pg_class set relname = $1`,
    `copy (select * from pg_class) to stdout`,
    '',
  ])('also something else: %s', (text) => {
    expect(readCatalogueRead('postgres', text)).toBeNull();
  });

  test('names without a schema are for the server to know', () => {
    expect(
      readCatalogueRead('postgres', 'select report(oid), lower(relname) from pg_orders, pg_class'),
    ).toEqual({
      relations: ['pg_orders', 'pg_class'],
      functions: ['report', 'lower'],
    });
  });
});

describe('MySQL', () => {
  test.each([
    'SELECT `LOGFILE_GROUP_NAME` , `FILE_NAME` FROM `INFORMATION_SCHEMA` . `FILES` WHERE `FILE_TYPE` = ? AND `LOGFILE_GROUP_NAME` IN ( SELECT DISTINCT `LOGFILE_GROUP_NAME` FROM `INFORMATION_SCHEMA` . `FILES` WHERE `FILE_TYPE` = ? ) GROUP BY `LOGFILE_GROUP_NAME`',
    'SELECT `COLUMN_NAME` , `JSON_EXTRACT` ( HISTOGRAM , ? ) FROM `information_schema` . `COLUMN_STATISTICS` WHERE SCHEMA_NAME = ?',
    'SELECT `t` . `processlist_id` , COUNT ( * ) FROM `performance_schema` . `threads` `t` LEFT JOIN `sys` . `innodb_lock_waits` AS `w` ON `w` . `waiting_pid` = `t` . `processlist_id` , `mysql` . `user`',
    'WITH `w` AS ( SELECT * FROM `performance_schema` . `threads` ) SELECT `IFNULL` ( MAX ( `thread_id` ) , ? ) FROM `w` , DUAL',
  ])('only the catalogue: %s', (text) => {
    expect(readCatalogueRead('mysql', text)).not.toBeNull();
  });

  test.each([
    'SELECT * FROM `shop` . `users` , `information_schema` . `tables`',
    'SELECT * FROM `information_schema` . `tables` `t` JOIN `information_schema` . `columns` `c` ON ( `c` . `table_name` = `t` . `table_name` ) , `users`',
    'SELECT * FROM `information_schema` . `tables` STRAIGHT_JOIN `shop` . `users`',
    'SELECT `report` ( `table_name` ) FROM `information_schema` . `tables`',
    'SELECT `shop` . `lower` ( `table_name` ) FROM `information_schema` . `tables`',
    'SELECT `information_schema` . `x` FROM `users` AS `information_schema`',
    'SELECT SLEEP (?) ',
    'SELECT * FROM `information_schema` . `tables` ...',
    'SELECT * FROM `information_schema` . `tables` WHERE ( `x` IN (...) ',
  ])('also something else: %s', (text) => {
    expect(readCatalogueRead('mysql', text)).toBeNull();
  });
});
