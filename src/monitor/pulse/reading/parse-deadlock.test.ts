import { expect, test } from 'vitest';
import { parseDeadlock } from './parse-deadlock.ts';

const status = (section: string) => `
=====================================
2026-11-27 10:05:00 0x7f INNODB MONITOR OUTPUT
=====================================
------------------------
LATEST DETECTED DEADLOCK
------------------------
${section}
------------
TRANSACTIONS
------------
Trx id counter 2000
---TRANSACTION 1900, ACTIVE 3 sec
MySQL thread id 99, OS thread handle 1, query id 5 localhost root updating
update other.secrets set a = 1
`;

const transaction = (
  number: number,
  statement: string,
  table = '`shop`.`orders`',
) => `*** (${number}) TRANSACTION:
TRANSACTION 182${number}, ACTIVE 5 sec starting index read
mysql tables in use 1, locked 1
LOCK WAIT 3 lock struct(s), heap size 1128, 2 row lock(s), undo log entries 1
MySQL thread id 8, OS thread handle 139, query id 30 localhost root updating
${statement}

*** (${number}) HOLDS THE LOCK(S):
RECORD LOCKS space id 2 page no 4 n bits 72 index PRIMARY of table ${table} trx id 182${number} lock_mode X locks rec but not gap
Record lock, heap no 2 PHYSICAL RECORD: n_fields 4; compact format; info bits 0
 0: len 4; hex 80000001; asc     ;;
`;

test('reads the statements, tables and victim of a deadlock', () => {
  const section = `2026-11-27 10:00:00 139845
${transaction(1, 'update orders set paid = 1\n where id = 2')}
${transaction(2, "update items set note = 'secret'", '`shop`.`it``ems` /* Partition `p0` */')}
*** WE ROLL BACK TRANSACTION (2)`;
  expect(parseDeadlock(status(section))).toEqual({
    time: '2026-11-27 10:00:00',
    transactions: [
      { statement: 'update orders set paid = 1\n where id = 2', tables: ['shop.orders'], isVictim: false },
      { statement: "update items set note = 'secret'", tables: ['shop.it`ems'], isVictim: true },
    ],
  });
});

test('there is none in a status without one, or in anything else', () => {
  expect(parseDeadlock(status('nothing'))).toBeNull();
  expect(parseDeadlock('')).toBeNull();
  expect(parseDeadlock('LATEST DETECTED DEADLOCK\n'.repeat(10_000))).toBeNull();
});

const section = (text: string) => status(`2026-11-27 10:00:00 1\n*** (1) TRANSACTION:\n*** x\n${text}`);

test('what a hostile server or client makes of it is short', () => {
  const lines = '*** (1) TRANSACTION:\n'.repeat(20_000) + '*** WE ROLL BACK TRANSACTION (1)\n'.repeat(10_000);
  expect(parseDeadlock(section(lines))?.transactions).toHaveLength(8);
  const tables = Array.from(
    { length: 5_000 },
    (_, n) => `RECORD LOCKS x of table \`a\u001b[2J${n}\` trx id 1`,
  );
  const [many] = parseDeadlock(section(tables.join('\n')))?.transactions ?? [];
  expect(many?.tables).toHaveLength(8);
  expect(many?.tables.join('')).not.toMatch(/\p{Cc}/u);
  const [long] =
    parseDeadlock(status(`2026-11-27 10:00:00 1\n${transaction(1, 'x'.repeat(1e6))}`))?.transactions ?? [];
  expect(long?.statement).toHaveLength(4_096);
});

test.each([
  'a.',
  '`',
  '``',
  '`a`.',
  ' of table ``',
  ' of table `a',
  '-',
  '\n',
  '\n*** ',
  '\nRECORD LOCKS of table `',
])('a megabyte of %j takes no longer than another text', (text) => {
  const megabyte = text.repeat(1e6 / text.length);
  parseDeadlock(section(`RECORD LOCKS x of table ${megabyte}`));
  parseDeadlock(status(`2026-11-27 10:00:00 1\n*** (1) TRANSACTION:\nMySQL thread id 1,${megabyte}`));
  parseDeadlock(status(megabyte));
});
