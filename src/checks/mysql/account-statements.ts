import type { Account } from './account-check.ts';
import { isMariaDb } from './flavour.ts';
import { asExpression, printable } from './quote.ts';

/**
 * Gives an account a random password, which the statement shows once. The account keeps its other attributes, and the
 * person who runs it keeps their access, so that it is safe for the last administrator and for dbvitals' own login.
 *
 * @param plugin MySQL: the authentication method to change to; otherwise the account keeps its own.
 */
export function newPassword(account: Account, version: number, plugin = ''): string {
  const { name, own } = account;
  const note = own
    ? 'shows the new password once: dbvitals logs in with this account, so enter it with "connection change --password-stdin"'
    : 'shows the new password once: enter it wherever the account is used';
  // RANDOM PASSWORD is new in MySQL 8.0.18, RANDOM_BYTES in MariaDB 10.10.
  if (isMariaDb(version) ? version < 101_000 : version < 80_018)
    return `${printable(`SHOW GRANTS FOR ${name};`)} -- then set a long random password with SET PASSWORD, and enter it wherever the account is used`;
  if (!isMariaDb(version))
    return whereWritable(
      account,
      `${printable(`ALTER USER ${name} IDENTIFIED ${plugin === '' ? '' : `WITH ${plugin} `}BY RANDOM PASSWORD;`)} -- ${note}`,
    );
  // SET PASSWORD leaves the account's other methods, such as unix_socket. Aa1- satisfies rules for passwords.
  const random = `SET @password = CONCAT('Aa1-', TO_BASE64(RANDOM_BYTES(18)));`;
  const { before, expression } = asExpression(`SET PASSWORD FOR ${name} = PASSWORD('`);
  const set = `EXECUTE IMMEDIATE CONCAT(${expression}, @password, ''')');`;
  return whereWritable(account, `${before}${random} ${set} SELECT @password; -- ${note}`);
}

/** The statement, or where to run it if this server accepts no change of an account. */
export function whereWritable({ readOnly }: Account, statement: string): string {
  return readOnly ? `This server is read-only. Run this on its source: ${statement}` : statement;
}
