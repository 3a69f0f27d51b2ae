import { numberIn, textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { Figures, figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';
import { printable, quoted, stringLiteral } from './quote.ts';

/** One source of a replica: a connection in MariaDB, a channel in MySQL. */
export interface Replication {
  /** The quoted name; null if it has none, as usual with a single source. */
  object: string | null;
  /** How a sentence begins with it: `Replication`, ``Replication `north` ``. */
  words: string;
  /** A statement that concerns it alone: `START REPLICA` → `START REPLICA 'north';`. */
  statement: (verb: string, end?: string) => string;
  /** `Yes`, `No`, or `Connecting` and the like. */
  receiver: string;
  applier: string;
  /** 0 = no error. The text of an error may contain values from rows, so it is not read. */
  receiverError: number;
  applierError: number;
  /** The position is kept as GTIDs, so that the relay log can be fetched again. */
  gtid: boolean;
  /** It has read something from its source since the last RESET. */
  begun: boolean;
  /** Seconds, including `delay`; null if the server does not know. */
  behind: number | null;
  /** The configured delay of the replica in seconds. */
  delay: number;
  /** The next transaction is not due yet, by `delay`. On MariaDB 10.11 with parallel threads `behind` then counts idle time. */
  notDue: boolean;
}

const settings = [
  'read_only',
  'slave_net_timeout',
  'replica_net_timeout',
  'slave_parallel_threads',
  'slave_parallel_workers',
  'replica_parallel_workers',
  'group_replication_group_name',
  'wsrep_cluster_address',
];

// Without PROCESS a login sees only its own sessions, and so no replica.
const ownReplicas = `
  select count(*) + 0e0 as own_replicas from information_schema.processlist where command like 'Binlog Dump%'`;

/** Statements for {@link replicationsIn} and {@link replicaSettings}. */
export function replicaSql(version: number): string[] {
  if (isMariaDb(version)) return [...figures({ variables: settings }), ownReplicas, 'show all slaves status'];
  return [
    ...figures({ variables: settings }),
    ownReplicas,
    saysReplica(version) ? 'show replica status' : 'show slave status',
  ];
}

/** The privilege that those statements need. */
export function replicaPrivilege(version: number): string {
  return isMariaDb(version) ? 'SLAVE MONITOR ON *.*' : 'REPLICATION CLIENT ON *.*';
}

/** The settings of a replica; throws if the first statement gave no row. */
export function replicaSettings(rows: readonly Row[]): Figures {
  const found = new Figures(rows);
  found.text('read_only');
  return found;
}

/** Whether the server is set up as a member of a group or a Galera cluster: its data come from there. */
export function isClusterMember(rows: readonly Row[]): boolean {
  const found = replicaSettings(rows);
  return ['group_replication_group_name', 'wsrep_cluster_address'].some(
    (name) => found.has(name) && found.text(name) !== '',
  );
}

/** All sources, in the order of their names. MY_GROUP_MEMBER_DOWN covers those of group replication. */
export function replicationsIn(rows: readonly Row[], version: number): Replication[] {
  const [words, nameColumn] = [
    saysReplica(version) && !isMariaDb(version) ? ['Replica', 'Source'] : ['Slave', 'Master'],
    isMariaDb(version) ? 'Connection_name' : 'Channel_Name',
  ];
  return rows
    .filter((row) => nameColumn in row && !textIn(row, nameColumn).startsWith('group_replication_'))
    .map((row) => {
      const name = textIn(row, nameColumn);
      const behind = `Seconds_Behind_${words[1]}`;
      return {
        object: name === '' ? null : quoted(name),
        words: name === '' ? 'Replication' : `Replication ${quoted(name)}`,
        statement: (verb, end = '') => {
          if (name === '') return `${verb}${end};`;
          const named = isMariaDb(version) ? verb : `${verb} FOR CHANNEL`;
          return printable(
            `${named} ${stringLiteral(name)}${end};`,
            `${named} ${stringLiteral(name, true)}${end};`,
          );
        },
        receiver: textIn(row, `${words[0]}_IO_Running`),
        applier: textIn(row, `${words[0]}_SQL_Running`),
        receiverError: numberIn(row, 'Last_IO_Errno'),
        applierError: numberIn(row, 'Last_SQL_Errno'),
        gtid: isMariaDb(version) ? textIn(row, 'Using_Gtid') !== 'No' : numberIn(row, 'Auto_Position') === 1,
        begun: row[`${words[1]}_Log_File`] !== '',
        behind: row[behind] === null ? null : numberIn(row, behind),
        delay: numberIn(row, 'SQL_Delay'),
        notDue: row['SQL_Remaining_Delay'] !== null,
      };
    });
}

/** `REPLICA`, or the older word in START and STOP. */
export function replicaWord(version: number): string {
  return saysReplica(version) ? 'REPLICA' : 'SLAVE';
}

/** The statement that shows a person the whole state, with error texts. */
export function showStatus(version: number): string {
  return isMariaDb(version) ? 'SHOW ALL SLAVES STATUS' : `SHOW ${replicaWord(version)} STATUS`;
}

/** MySQL since 8.0.22, MariaDB since 10.5 (which kept the old column names). */
function saysReplica(version: number): boolean {
  return version >= 80_022;
}
