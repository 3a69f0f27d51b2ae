import { follow } from './paste.ts';
import type { Provocation } from './provocations.ts';

/** Provocations of the checks of databases, collations, event triggers and subscriptions. */
export const ofDatabases: Provocation[] = [
  {
    check_id: 'PG_DATABASE_INVALID',
    severity: 'warning',
    object: '"Half gone"',
    async provoke(server) {
      await server.run('create database "Half gone"');
      await server.run(
        `update pg_database set datconnlimit = -2, datfrozenxid = '3' where datname = 'Half gone'`,
      );
      return (remediation) => follow(server, remediation);
    },
  },
  {
    check_id: 'PG_DATABASE_LEFT_OUT',
    severity: 'info',
    object: null,
    async provoke(server) {
      await server.run('create database private');
      await server.run('revoke connect on database private from public');
      return async () => {
        await server.run('grant connect on database private to watcher');
      };
    },
  },
  {
    check_id: 'PG_EVENT_TRIGGER_DISABLED',
    severity: 'warning',
    object: '"No drops"',
    async provoke(server) {
      await server.run(`create function refuse() returns event_trigger language plpgsql as 'begin end'`);
      await server.run('create event trigger "No drops" on sql_drop execute function refuse()');
      await server.run('alter event trigger "No drops" disable');
      return async (remediation) => {
        await follow(server, remediation);
        await server.run('drop event trigger "No drops"');
      };
    },
  },
  {
    check_id: 'PG_COLLATION_VERSION',
    severity: 'warning',
    object: 'public."German"',
    async provoke(server) {
      await server.run(`create collation "German" (provider = icu, locale = 'de')`);
      await server.run('create table words (id int primary key, word text collate "German")');
      await server.run(`update pg_collation set collversion = '1' where collname = 'German'`);
      return (remediation) => follow(server, remediation);
    },
  },
  {
    check_id: 'PG_SUBSCRIPTION_STOPPED',
    severity: 'warning',
    object: 'shop."From north"',
    async provoke(server) {
      await server.run(
        `create subscription "From north" connection 'host=/nowhere dbname=shop' publication p with (connect = false)`,
      );
      return async (remediation) => {
        await follow(server, remediation);
        const [row] = await server.run('select subenabled as enabled from pg_subscription');
        if (row?.['enabled'] !== true) throw new Error('The subscription is still disabled.');
        await server.run('alter subscription "From north" disable');
        await server.run('alter subscription "From north" set (slot_name = none)');
        await server.run('drop subscription "From north"');
      };
    },
  },
];
