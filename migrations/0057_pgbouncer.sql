-- Connections to PgBouncer: a fourth engine.

alter table connection drop constraint connection_engine_check;
alter table connection add constraint connection_engine_check
  check (engine in ('postgres', 'mysql', 'mariadb', 'pgbouncer'));
