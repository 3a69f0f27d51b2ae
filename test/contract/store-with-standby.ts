import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, PostgresServer, testedPrograms } from '../checks/postgres-server.ts';
import { Standby } from '../checks/standby.ts';

/** A PostgreSQL with the role and database `dbvitals`, and its synchronous standby. */
export interface StoreWithStandby {
  primary: PostgresServer;
  standby: Standby;
  /** The primary's main process. */
  postmaster: number;
  stop(): Promise<void>;
}

export async function startStoreWithStandby(): Promise<StoreWithStandby> {
  const primary = await PostgresServer.start();
  await primary.run(`create role dbvitals login createrole password '${PASSWORD}'`);
  await primary.run('create database dbvitals owner dbvitals');
  await primary.pause();
  const connections = { max_connections: '60' };
  const standby = new Standby(primary, 'second', testedPrograms(), connections);
  await primary.resume({
    listen_addresses: '127.0.0.1',
    max_wal_senders: '5',
    synchronous_standby_names: 'second',
    ...connections,
  });
  await standby.start();
  await primary.until(`select count(*) = 1 from pg_stat_replication where sync_state = 'sync'`);
  return {
    primary,
    standby,
    postmaster: Number(readFileSync(join(primary.host, 'postmaster.pid'), 'utf8').split('\n')[0]),
    async stop() {
      await standby.stop();
      await primary.stop();
    },
  };
}
