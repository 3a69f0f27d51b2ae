import { isMariaDb } from './flavour.ts';
import { type Replication, replicaWord, showStatus } from './replica-status.ts';

/** What an error of a replica means, and what to do. */
interface Advice {
  /** After "Replication: ". */
  metricLine: string;
  remediation: string;
}

type Explain = (one: Replication, context: { look: string; start: string; version: number }) => Advice;

// Each as MySQL and MariaDB call it, seen with a real source and replica of MySQL 9.7 and MariaDB 11.8.
const LOGIN = [1044, 1045, 1130, 1251, 1275, 1524, 1698, 1862, 2059, 3118, 4151];
const TLS = [2026, 2061];
const NETWORK = [1040, 1129, 1158, 1159, 1160, 1161, 1203, 2002, 2003, 2005, 2006, 2012, 2013, 2055];

/** MySQL reports 13114 for what MariaDB and MySQL before 8.0 call 1236. */
const LOG_UNREADABLE = [1236, 13_114];
const EQUAL_SERVER_IDS = [1593, 13_117];
const COMMAND_REFUSED = [1597, 13_120];
const RELAY_LOG_CORRUPT = [1594, 13_121];

/** The server reconnects by itself; MySQL from 8.4 on gives up after ten attempts. */
const again = (one: Replication, start: string) =>
  one.receiver === 'No' ? `then ${start}` : 'the thread then reconnects by itself';

const unreadable: Explain = ({ receiverError }, { look, version }) => ({
  metricLine: `the source can't send the binary log from where this replica needs it (error ${receiverError}), so nothing new arrives; usually the log is purged: rebuild the replica.`,
  remediation: `${look} -- Last_IO_Error says why. Purged log or GTID: starting does not help, so make the replica anew from a ${isMariaDb(version) ? 'mariadb-backup' : 'clone or backup'} of the source, and keep logs longer there (binlog_expire_logs_seconds). Position past the end or inside an event: the source lost its last writes, so compare the data first`,
});

const equalIds: Explain = ({ receiverError }, { look, start }) => ({
  metricLine: `the IO thread stopped on error ${receiverError}, as if the source had the same server_id; give this server another.`,
  remediation: `${look} SELECT @@server_id; -- if Last_IO_Error says that the ids are equal: set a server_id that no other server of the topology has, in the option file too, then ${start}`,
});

const refused: Explain = (one, { look, start }) => ({
  metricLine: `the source refuses a command of the IO thread (error ${one.receiverError}), usually because the login lacks REPLICATION SLAVE; grant it.`,
  remediation: `${look} -- if Last_IO_Error says "Access denied": on the source, GRANT REPLICATION SLAVE ON *.* TO the user in it; ${again(one, start)}`,
});

const connecting =
  (cause: string, todo: string): Explain =>
  (one, { look, start }) => ({
    metricLine: `the IO thread can't reach the source (error ${one.receiverError}: ${cause}), so nothing new arrives; ${todo}.`,
    remediation: `${look} -- Last_IO_Error says what failed: ${todo}; ${again(one, start)}`,
  });

const RECEIVER: readonly (readonly [readonly number[], Explain])[] = [
  [LOG_UNREADABLE, unreadable],
  [EQUAL_SERVER_IDS, equalIds],
  [COMMAND_REFUSED, refused],
  [
    LOGIN,
    connecting(
      'the login is refused',
      'correct the user and password of the replica, or the account on the source',
    ),
  ],
  [TLS, connecting('TLS failed', 'use TLS for the source, or correct its certificate settings')],
  [
    NETWORK,
    connecting(
      'the network or the server',
      'start the source, or correct its address, the firewall or its limits',
    ),
  ],
];

/** A replication whose IO thread does not run, or can't connect. */
export function receiverAdvice(one: Replication, version: number): Advice {
  const context = contextOf(one, version);
  const { look, start } = context;
  const { receiver, receiverError } = one;
  if (receiverError === 0)
    return receiver === 'No'
      ? { metricLine: 'the IO thread is stopped, so nothing new arrives; start it.', remediation: start }
      : {
          metricLine:
            "the IO thread can't reach the source, so nothing new arrives; fix the source, the network or the login.",
          remediation: `${look} -- Last_IO_Error says why, after the first failed attempt`,
        };
  const explain = RECEIVER.find(([errors]) => errors.includes(receiverError))?.[1];
  if (explain) return explain(one, context);
  return {
    metricLine: `the IO thread ${receiver === 'No' ? 'stopped on' : 'failed with'} error ${receiverError}, so nothing new arrives; fix its cause.`,
    remediation: `${look} -- Last_IO_Error says why. Fix that; ${again(one, start)}`,
  };
}

/** A replication whose SQL thread does not run. */
export function applierAdvice(one: Replication, version: number): Advice {
  const { look, start } = contextOf(one, version);
  const { receiver, applierError } = one;
  if (applierError === 0)
    return {
      metricLine:
        receiver === 'Yes'
          ? 'the SQL thread is stopped, so nothing is applied; start it.'
          : 'the IO and the SQL thread are not running, so nothing is copied; start them.',
      remediation: start,
    };
  if (RELAY_LOG_CORRUPT.includes(applierError)) return corruptAdvice(one, version);
  const workers = isMariaDb(version)
    ? ''
    : ' SELECT channel_name, last_error_number, last_error_message FROM performance_schema.replication_applier_status_by_worker WHERE last_error_number <> 0;';
  return {
    metricLine: `the SQL thread stopped on error ${applierError}; fix the rows that it names, then start it.`,
    remediation: `${look}${workers} -- fix the rows in the error, then ${start} other rows probably differ too, so compare them with the source`,
  };
}

function corruptAdvice(one: Replication, version: number): Advice {
  const { look } = contextOf(one, version);
  const word = replicaWord(version);
  const metricLine = `the relay log can't be read (error ${one.applierError}); fetch it from the source again.`;
  // MariaDB with GTIDs discards its relay logs whenever both threads start; RESET would forget its position.
  if (one.gtid) {
    const reset = isMariaDb(version) ? '' : `${one.statement(`RESET ${word}`)} `;
    return {
      metricLine,
      remediation: `${one.statement(`STOP ${word}`)} ${reset}${one.statement(`START ${word}`)}`,
    };
  }
  const [log, position] =
    isMariaDb(version) || version < 80_022
      ? ['Relay_Master_Log_File', 'Exec_Master_Log_Pos']
      : ['Relay_Source_Log_File', 'Exec_Source_Log_Pos'];
  return {
    metricLine,
    remediation: `${look} -- note ${log} and ${position}, stop the replica, set the two as the position of the source with CHANGE ${isMariaDb(version) || version < 80_023 ? 'MASTER' : 'REPLICATION SOURCE'}, and start it. RESET would lose the position`,
  };
}

function contextOf(one: Replication, version: number) {
  return {
    look: `${showStatus(version)};`,
    start: one.statement(`START ${replicaWord(version)}`),
    version,
  };
}
