import { Type } from 'typebox';
import { endpoint, nullable } from '../http/endpoint.ts';
import { Meta, wholeMeta } from '../http/paging.ts';

const Member = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  email: Type.String(),
  roles: Type.Array(Type.String(), { description: 'ids of roles' }),
  status: Type.String({ description: 'active, invited or suspended; more may come' }),
  joined_at: Type.String({ format: 'date-time' }),
  last_active_at: nullable(Type.String({ format: 'date-time' })),
});

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
  summary: 'Members with their roles',
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
