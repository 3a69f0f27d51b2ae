import type { Actor } from '../../accounts/members/actor.ts';
import { addLinkAs, type NewLink } from '../../accounts/members/add-link.ts';
import { changeMemberAs } from '../../accounts/members/change-member.ts';
import { inviteMember } from '../../accounts/members/invite-member.ts';
import { covers, versionOf } from '../../accounts/members/member-rules.ts';
import { removeMemberAs } from '../../accounts/members/remove-member.ts';
import type { Change } from '../../activity/record-entry.ts';
import { EditConflict, notFound } from '../../platform/rejection.ts';
import { identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { ROLE_IDS } from '../../vocabulary/role-permissions.ts';
import { editConflict } from '../edit-conflict.ts';
import { type ConsoleRequest, type ConsoleRoute, consoleRoute } from '../route.ts';
import { Email } from '../sign-in/sign-in-routes.ts';
import { singleLine } from '../single-line.ts';

const Role = stringEnum(...ROLE_IDS);
const Status = stringEnum('active', 'invited', 'suspended');

const Member = Type.Object(
  {
    id: identifier('member'),
    name: Type.String(),
    email: Type.String(),
    roles: Type.Array(Role),
    status: Status,
    joined_at: timestamp('time of joining, or of the invitation before that'),
    last_active_at: nullable(timestamp('time of the last action')),
    joined: Type.Boolean({ description: 'whether a login acts as the member; else a link invites them' }),
    link_expires_at: nullable(timestamp('until when the newest link for them is good; null = there is none')),
    may_change: Type.Boolean({
      description: 'whether you may change or remove them: their roles allow no more than yours',
    }),
    version: Type.String({ description: 'give it back with a change' }),
  },
  { title: 'Member' },
);
const Members = Type.Object({ data: Type.Array(Member, { description: 'by id' }) });
const MemberLink = Type.Object({
  purpose: stringEnum('invitation', 'reset'),
  url: Type.String({ description: 'shown this once; good for one use' }),
  expires_at: timestamp('until when it is good'),
});

const name = singleLine(200, 'Enter a name of 1 to 200 characters.');
const roles = Type.Array(Role, {
  minItems: 1,
  uniqueItems: true,
  description: `Choose at least one of the roles ${ROLE_IDS.join(', ')}.`,
});
const Invitation = Type.Object({ name, email: Email, roles });
const Invited = Type.Object({ member: Member, link: MemberLink });
const MemberChange = Type.Object(
  {
    version: Type.String({ maxLength: 64, description: 'Send the version of the member that you read.' }),
    name: Type.Optional(name),
    email: Type.Optional(Email),
    roles: Type.Optional(roles),
    status: Type.Optional(
      Type.Unsafe<'active' | 'suspended'>({
        ...stringEnum('active', 'suspended'),
        description: 'Set the status to active or suspended.',
      }),
    ),
  },
  { minProperties: 2 },
);

/** GET /members */
export type Members = Static<typeof Members>;
/** A member; the answer of PATCH /members/:id. */
export type Member = Static<typeof Member>;
/** POST /members */
export type Invitation = Static<typeof Invitation>;
/** The answer of POST /members. */
export type Invited = Static<typeof Invited>;
/**
 * PATCH /members/:id: 409 when the version has changed. The e-mail address can change only before they joined; that ends
 * their link.
 */
export type MemberChange = Static<typeof MemberChange>;
/** The answer of POST /members/:id/link: an invitation until they joined, then a password reset link. */
export type MemberLink = Static<typeof MemberLink>;

interface MemberRow {
  id: number;
  name: string;
  email: string;
  roles: Member['roles'];
  status: Member['status'];
  joined_at: Date;
  last_active_at: Date | null;
  joined: boolean;
  link_expires_at: Date | null;
  version: string;
}

const select = `
  select m.member_id as id, m.name, m.email, m.roles, m.status, m.joined_at, m.last_active_at,
         m.login_id is not null as joined,
         (select max(k.expires_at) from link k
           where k.account_id = $1 and k.member_id = m.member_id and k.used_at is null
             and k.expires_at > clock_timestamp()) as link_expires_at,
         ${versionOf} as version
    from member m
   where m.account_id = $1 and ($2::bigint is null or m.member_id = $2)
   order by m.member_id`;

function memberOf(row: MemberRow, { permissions }: Actor): Member {
  return {
    ...row,
    joined_at: row.joined_at.toISOString(),
    last_active_at: row.last_active_at?.toISOString() ?? null,
    link_expires_at: row.link_expires_at?.toISOString() ?? null,
    may_change: permissions.has('members:write') && covers(permissions, row.roles),
  };
}

async function readMember({ client, accountId }: Change, id: number, actor: Actor): Promise<Member> {
  const [row] = (await client.query<MemberRow>(select, [accountId, id])).rows;
  if (!row) throw notFound();
  return memberOf(row, actor);
}

const listMembers = consoleRoute({
  method: 'GET',
  path: '/members',
  permission: 'members:read',
  response: Members,
  async handler({ actor, read }) {
    const rows = await read((run) => run<MemberRow>(select, [actor.accountId, null]));
    return { data: rows.map((row) => memberOf(row, actor)) };
  },
});

const invite = consoleRoute({
  method: 'POST',
  path: '/members',
  recent: true,
  permission: 'members:write',
  body: Invitation,
  response: Invited,
  status: 201,
  async handler({ body, actor, caller, parts, change }) {
    return change(async (made) => {
      const { id, link } = await inviteMember(made, actor, { ...body, name: body.name.trim() });
      return { member: await readMember(made, id, actor), link: linkOf(link, { caller, parts }) };
    });
  },
});

function linkOf(
  { purpose, token, expires_at }: NewLink & Pick<MemberLink, 'purpose'>,
  { caller, parts }: Pick<ConsoleRequest, 'caller' | 'parts'>,
): MemberLink {
  const home = (parts.publicUrl ?? caller.origin) + parts.basePath;
  return { purpose, url: `${home}/link/${token}`, expires_at: expires_at.toISOString() };
}

const alter = consoleRoute({
  method: 'PATCH',
  path: '/members/:id',
  recent: true,
  permission: 'members:write',
  body: MemberChange,
  response: Member,
  async handler({ id, body, actor, change, read }) {
    const wanted = body.name === undefined ? body : { ...body, name: body.name.trim() };
    return change(async (made) => {
      await changeMemberAs(made, actor, id, wanted);
      return readMember(made, id, actor);
    }).catch(async (error: unknown) => {
      if (!(error instanceof EditConflict)) throw error;
      const of = { property: 'member_id', id };
      throw await read((run) => editConflict(run, actor.accountId, 'member_changed', of));
    });
  },
});

const remove = consoleRoute({
  method: 'DELETE',
  path: '/members/:id',
  permission: 'members:write',
  response: null,
  async handler({ id, actor, change }) {
    await change((made) => removeMemberAs(made, actor, id));
  },
});

const link = consoleRoute({
  method: 'POST',
  path: '/members/:id/link',
  recent: true,
  permission: 'members:write',
  response: MemberLink,
  status: 201,
  async handler({ id, actor, caller, parts, change }) {
    return linkOf(await change((made) => addLinkAs(made, actor, id)), { caller, parts });
  },
});

/** The routes for members. */
export const memberRoutes: ConsoleRoute[] = [listMembers, invite, alter, remove, link];
