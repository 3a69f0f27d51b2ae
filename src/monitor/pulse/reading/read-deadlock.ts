import { createHash } from 'node:crypto';
import type { Row } from '../../../checks/fault.ts';
import type { Deadlock } from '../../../runs/episodes/deadlock.ts';
import { redactText } from '../../../runs/queries/redact-text.ts';
import type { Session } from '../../session/session.ts';
import { type PrintedDeadlock, parseDeadlock } from './parse-deadlock.ts';

/** A deadlock as plain data, for the message to the parent. */
export type SentDeadlock = Omit<Deadlock, 'at'> & { at: number };

/** How much InnoDB's status may take: a server cuts it to a megabyte. */
export const STATUS_BYTES = 1_500_000;

/** How many statements a reading of a deadlock takes at most. */
export const DEADLOCK_STATEMENTS = 4;

const COMMANDS = ['INSERT', 'UPDATE', 'DELETE', 'REPLACE', 'SELECT', 'LOAD', 'CALL', 'ALTER'];

/** Reads the last deadlock of InnoDB; null if there is none. Of a statement, only its digest and first word are in it. */
export async function readDeadlock(session: Session, isMysql: boolean): Promise<SentDeadlock | null> {
  const [row] = await session.read('show engine innodb status');
  const status = row?.['Status'];
  const printed = typeof status === 'string' ? parseDeadlock(status) : null;
  if (!printed) return null;
  const clock = `unix_timestamp(convert_tz('${printed.time}', 'SYSTEM', '+00:00')) as at`;
  const asked = isMysql ? await askForDigests(session, clock, printed) : null;
  const answer = asked ?? (await session.read(`select ${clock}`))[0] ?? {};
  const at = answer['at'];
  if (typeof at !== 'number' && typeof at !== 'string') return null;
  const seconds = Math.floor(Number(at));
  if (!(seconds > 0 && seconds < 4e9)) return null;
  return {
    at: seconds * 1_000,
    transactions: printed.transactions.map(({ statement, tables, isVictim }, n) => ({
      digest: digestIn(answer, n) ?? ownDigest(statement),
      command: commandOf(statement),
      tables,
      is_victim: isVictim,
    })),
  };
}

// InnoDB cuts long statements, which MySQL then can't parse.
async function askForDigests(
  session: Session,
  clock: string,
  { transactions }: PrintedDeadlock,
): Promise<Row | null> {
  const digests = transactions.map(({ statement }, n) => {
    const hex = Buffer.from(statement).toString('hex');
    return `, statement_digest(convert(0x${hex || '20'} using utf8mb4)) as digest_${n}`;
  });
  try {
    await session.read('use performance_schema'); // an unqualified name needs a database
    return (await session.read(`select ${clock}${digests.join('')}`))[0] ?? null;
  } catch {
    return null;
  }
}

function digestIn(answer: Row, n: number): string | null {
  const digest = answer[`digest_${n}`];
  return typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest) ? digest : null;
}

/** The same for statements that differ only in their values. */
function ownDigest(statement: string): string {
  const redacted = redactText('mysql', statement).replace(/\s+/g, ' ').trim().toLowerCase();
  return createHash('sha256').update(redacted).digest('hex');
}

function commandOf(statement: string): string {
  const [word = ''] = /^\w+/.exec(statement) ?? [];
  return COMMANDS.find((command) => command === word.toUpperCase()) ?? '';
}
