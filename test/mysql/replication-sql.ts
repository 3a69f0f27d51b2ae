import { dialect } from './tested-server.ts';

/** The statements about one source of a replica, whose connection (on MySQL: channel) has a name or is the default. */
export const replication = {
  /** Forgets what the server has written to its binary logs. */
  reset: dialect({ mysql: 'reset binary logs and gtids', mariadb: 'reset master' }),

  /** Copies from the beginning, with the login `copier`. */
  copyFrom: (name: string, port: string, password: string): string =>
    dialect({
      mysql: `change replication source to source_host = '127.0.0.1', source_port = ${port}, source_user = 'copier',
              source_password = '${password}', source_connect_retry = 1, source_auto_position = 1,
              get_source_public_key = 1 for channel '${name}'`,
      mariadb: `change master '${name}' to master_host = '127.0.0.1', master_port = ${port}, master_user = 'copier',
                master_password = '${password}', master_connect_retry = 1, master_use_gtid = slave_pos`,
    }),

  /** `threads` is one of them, such as `io_thread`; by default both. */
  start: (name: string, threads = ''): string =>
    dialect({
      mysql: `start replica ${threads} for channel '${name}'`,
      mariadb: `start slave '${name}' ${threads}`,
    }),
  stop: (name: string, threads = ''): string =>
    dialect({
      mysql: `stop replica ${threads} for channel '${name}'`,
      mariadb: `stop slave '${name}' ${threads}`,
    }),

  /** The statements that make a running replica wait before it applies. */
  delay: (name: string, seconds: number): string[] => [
    replication.stop(name),
    dialect({
      mysql: `change replication source to source_delay = ${seconds} for channel '${name}'`,
      mariadb: `change master '${name}' to master_delay = ${seconds}`,
    }),
    replication.start(name),
  ],

  /** The statements that remove the source. */
  forget: (name: string): string[] => [
    replication.stop(name),
    dialect({
      mysql: `reset replica all for channel '${name}'`,
      mariadb: `reset slave '${name}' all`,
    }),
  ],

  /** Its row has the lag in the column `behind` names. */
  status: (name: string): string =>
    dialect({ mysql: `show replica status for channel '${name}'`, mariadb: `show slave '${name}' status` }),
  behind: dialect({ mysql: 'Seconds_Behind_Source', mariadb: 'Seconds_Behind_Master' }),

  /** What a source has written, and the condition that a replica has applied it within 20 s. */
  written: `select ${dialect({ mysql: '@@global.gtid_executed', mariadb: '@@gtid_binlog_pos' })} as gtid`,
  hasApplied: (gtid: string): string =>
    dialect({
      mysql: `select wait_for_executed_gtid_set('${gtid}', 20) = 0`,
      mariadb: `select master_gtid_wait('${gtid}', 20) = 0`,
    }),

  /** The number of the error of a source whose log is purged. */
  purged: dialect({ mysql: '13114', mariadb: '1236' }),
};
