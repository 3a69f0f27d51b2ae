import { quotedName } from '../../../checks/postgres/server-texts.ts';
import type { Session, Target } from '../session.ts';
import { type ConnectFailure, connectFailure, refusalOf } from './connect-failure.ts';
import { exactPrivilege } from './exact-privilege.ts';
import { lackingPrivilege } from './lacking-privilege.ts';

/**
 * Why the facts of a server can't be read, without which nothing is measured. The login was accepted: if it lacks a privilege, as
 * on a PostgreSQL that takes the catalogs from everybody, the failure names the GRANT.
 */
export async function explainUnreadFacts(
  error: unknown,
  session: Session,
  { target, answerMs }: { target: Target; answerMs: number },
): Promise<ConnectFailure> {
  const failure = connectFailure(error, answerMs, target);
  if (target.engine !== 'postgres' || refusalOf(error) !== 'denied') return failure;
  const privileges =
    (await exactPrivilege(error, (statement) => session.read(statement))) ?? lackingPrivilege(error);
  if (privileges.length === 0) return failure;
  const grants = privileges.map((privilege) => `GRANT ${privilege} TO ${quotedName(target.username)};`);
  return {
    kind: 'unauthorized',
    reason: 'the role may not read what every check needs (SQLSTATE 42501)',
    final: true,
    advice: 'Grant the role what the server denies:',
    paste: grants.join(' '),
    tls: null,
  };
}
