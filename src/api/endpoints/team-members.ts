import { endpoint } from '../../http/endpoint.ts';
import { Meta, wholeMeta } from '../../http/paging.ts';
import { identifier, openSet, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { Type } from '../../platform/schema/schema.ts';

const Member = Type.Object(
  {
    id: identifier('member identifier'),
    name: Type.String({ description: 'name of the person' }),
    email: Type.String({ description: 'e-mail address' }),
    roles: Type.Array(Type.String(), { description: 'ids of roles, as in the list of roles' }),
    status: openSet(['active', 'invited', 'suspended'], 'status of the member'),
    joined_at: timestamp('time of joining'),
    last_active_at: nullable(timestamp('time of the last action; null before the first')),
  },
  { title: 'Member', description: 'a member of the account' },
);

const listMembers = `
  select m.member_id as id, m.name, m.email, m.roles, m.status, m.joined_at, m.last_active_at
    from member m
    join account a on a.account_id = m.account_id
   where m.account_id = $1
     and a.kind = 'company'
   order by m.member_id`;

interface MemberRow {
  id: number;
  name: string;
  email: string;
  roles: string[];
  status: string;
  joined_at: Date;
  last_active_at: Date | null;
}

/** Endpoint 7: the members of the account with their roles; none for an individual account. */
export const members = endpoint({
  path: '/team/members',
  operationId: 'listMembers',
  summary: 'Members with their roles',
  description: 'The complete list, without pages, by `id`. It is empty for an individual account.',
  query: Type.Object({}),
  response: Type.Object({ data: Type.Array(Member), meta: Meta }),
  reuse: 'kept',
  async answer(read, { accountId }) {
    const rows = await read<MemberRow>(listMembers, [accountId]);
    const data = rows.map((row) => ({
      ...row,
      joined_at: row.joined_at.toISOString(),
      last_active_at: row.last_active_at?.toISOString() ?? null,
    }));
    return { body: { data, meta: wholeMeta(data.length) } };
  },
});
