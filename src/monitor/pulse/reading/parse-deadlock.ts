import { cleanText } from '../../../platform/text/clean-text.ts';

/** A deadlock as InnoDB's status tells it. The statements are as they were sent: they must not leave the child process. */
export interface PrintedDeadlock {
  /** In the time zone of the server's machine: `2026-11-27 10:00:00`. */
  time: string;
  transactions: { statement: string; tables: string[]; isVictim: boolean }[];
}

const MOST_TRANSACTIONS = 8;
const MOST_TABLES = 8;
const NAME = 130;

/** Longer than InnoDB prints a statement. */
const STATEMENT_LENGTH = 4_096;

const SECTION =
  /^LATEST DETECTED DEADLOCK\n-+\n(\d{4}-\d\d-\d\d {1,2}\d{1,2}:\d\d:\d\d)([\s\S]*?)(?:\n-+\n(?:TRANSACTIONS|FILE I\/O)\n-+\n|$(?![\s\S]))/m;
const TRANSACTION = /^\*\*\* \((\d+)\) TRANSACTION:$/m;
const STATEMENT = /^(?:MySQL|MariaDB) thread id \d+,.*\n([\s\S]*?)(?=\n\*\*\* |$(?![\s\S]))/m;
// InnoDB quotes names. Their length is limited, so that a hostile text takes no longer than a plain one.
const QUOTED = '`(?:[^`\\n]|``){1,200}`';
const TABLE = new RegExp(
  String.raw`^(?:RECORD LOCKS .*? of table|TABLE LOCK table) (${QUOTED}(?:\.${QUOTED})?) (?:/\*|trx )`,
  'gm',
);
const VICTIM = /^\*\*\* WE ROLL BACK TRANSACTION \((\d+)\)$/gm;

/** Finds the last deadlock in the text of SHOW ENGINE INNODB STATUS. Null if there is none. Nothing in it is trusted. */
export function parseDeadlock(status: string): PrintedDeadlock | null {
  const [, time, section] = SECTION.exec(status) ?? [];
  if (time === undefined || section === undefined) return null;
  const parts = section.split(TRANSACTION).slice(1);
  // A statement can hold such a line too, so the last one counts.
  const victim = [...section.matchAll(VICTIM)].at(-1)?.[1];
  const transactions = parts
    .flatMap((number, n) => (n % 2 === 0 ? [{ number, text: parts[n + 1] ?? '' }] : []))
    .slice(0, MOST_TRANSACTIONS)
    .map(({ number, text }) => ({
      statement: STATEMENT.exec(text)?.[1]?.slice(0, STATEMENT_LENGTH).trim() ?? '',
      tables: tablesIn(text),
      isVictim: number === victim,
    }));
  return transactions.length === 0 ? null : { time, transactions };
}

function tablesIn(text: string): string[] {
  const locks = text.slice(Math.max(0, text.indexOf('\n*** '))); // behind the statement
  const names = [...locks.matchAll(TABLE)].map(([, name = '']) => cleanText(unquoted(name), NAME));
  return [...new Set(names)].slice(0, MOST_TABLES);
}

function unquoted(name: string): string {
  return name.replace(/`((?:[^`]|``)*)`/g, (_, inner: string) => inner.replaceAll('``', '`'));
}
