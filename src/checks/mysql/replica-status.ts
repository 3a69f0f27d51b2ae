import type { Row } from '../check.ts';
import { numberIn, textIn } from '../columns.ts';
import { Figures, figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';
import { quoted } from './quote.ts';

/** One source that a replica copies from: a connection of MariaDB, a channel of MySQL. */
export interface Replication {
  /** As it is quoted; null where it has no name, which is the rule where there is only one. */
  object: string | null;
  /** How a sentence begins with it: `Replication`, ``Replication `north` ``. */
  words: string;
  /** What a statement ends with to mean it alone, such as ` 'north'`; empty where it has no name. */
  suffix: string;
  /** `Yes`, `No`, or `Connecting` and the like. */
  receiver: string;
  applier: string;
  /** 0 = no error. The text of an error may hold the values of rows, so it is not read. */
  receiverError: number;
  applierError: number;
  /** Seconds, those of `delay` among them; null where the server can't tell. */
  behind: number | null;
  /** Seconds that the replica is told to stay behind. */
  delay: number;
  /** What comes next is not due yet by `delay`. Seen on MariaDB 10.11: with parallel threads `behind` then counts idle time. */
  notDue: boolean;
}

const settings = [
  'read_only',
  ...['slave_net_timeout', 'replica_net_timeout'],
  ...['slave_parallel_threads', 'slave_parallel_workers', 'replica_parallel_workers'],
];

/** Statements for {@link replicationsIn} and {@link replicaSettings}. */
export function replicaSql(version: number): string[] {
  if (isMariaDb(version)) return [...figures({ variables: settings }), 'show all slaves status'];
  return [
    ...figures({ variables: settings }),
    saysReplica(version) ? 'show replica status' : 'show slave status',
  ];
}

/** What GRANT gives to whom those statements are refused. */
export function replicaPrivilege(version: number): string {
  return isMariaDb(version) ? 'SLAVE MONITOR ON *.*' : 'REPLICATION CLIENT ON *.*';
}

/** The settings of a replica; throws where the first statement gave no row. */
export function replicaSettings(rows: readonly Row[]): Figures {
  const found = new Figures(rows);
  found.text('read_only');
  return found;
}

/** All sources, in the order of their names. Those of group replication are MY_GROUP_MEMBER_DOWN's. */
export function replicationsIn(rows: readonly Row[], version: number): Replication[] {
  const [words, nameColumn] = [
    saysReplica(version) && !isMariaDb(version) ? ['Replica', 'Source'] : ['Slave', 'Master'],
    isMariaDb(version) ? 'Connection_name' : 'Channel_Name',
  ];
  return rows
    .filter((row) => nameColumn in row && !textIn(row, nameColumn).startsWith('group_replication_'))
    .map((row) => {
      const name = textIn(row, nameColumn);
      const literal = `'${name.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
      const behind = `Seconds_Behind_${words[1]}`;
      return {
        object: name === '' ? null : quoted(name),
        words: name === '' ? 'Replication' : `Replication ${quoted(name)}`,
        suffix: name === '' ? '' : isMariaDb(version) ? ` ${literal}` : ` FOR CHANNEL ${literal}`,
        receiver: textIn(row, `${words[0]}_IO_Running`),
        applier: textIn(row, `${words[0]}_SQL_Running`),
        receiverError: numberIn(row, 'Last_IO_Errno'),
        applierError: numberIn(row, 'Last_SQL_Errno'),
        behind: row[behind] === null ? null : numberIn(row, behind),
        delay: numberIn(row, 'SQL_Delay'),
        notDue: row['SQL_Remaining_Delay'] !== null,
      };
    });
}

/** `REPLICA`, or what older servers say for it in START and STOP. */
export function replicaWord(version: number): string {
  return saysReplica(version) ? 'REPLICA' : 'SLAVE';
}

/** The statement in which a person reads the whole state, with the texts of its errors. */
export function showStatus(version: number): string {
  return isMariaDb(version) ? 'SHOW ALL SLAVES STATUS' : `SHOW ${replicaWord(version)} STATUS`;
}

/** MySQL since 8.0.22, MariaDB since 10.5 (which still names the columns as ever). */
function saysReplica(version: number): boolean {
  return version >= 80_022;
}
