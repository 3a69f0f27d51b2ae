import { listMembers } from '../../accounts/members/list-members.ts';
import { Rejection } from '../../platform/rejection.ts';

/** The id of a member that an option names by id or e-mail address; null = `nobody`. Throws `notFound`. */
export async function memberOf(
  { accountId, client }: { accountId: number; client: Parameters<typeof listMembers>[0] },
  text: string,
): Promise<number | null> {
  if (text === 'nobody') return null;
  const address = text.trim().toLowerCase();
  const members = await listMembers(client, accountId);
  const found = members.find(({ id, email }) => String(id) === address || email.toLowerCase() === address);
  if (found) return found.id;
  throw new Rejection(
    'not_found',
    `Account ${accountId} has no such member: give an id or e-mail address of "member list", or nobody.`,
  );
}
