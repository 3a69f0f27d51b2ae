import { kind } from './action-kind.ts';
import {
  CHANGES,
  flag,
  idField,
  instant,
  memberId,
  memberName,
  optional,
  orNull,
  text,
  texts,
} from './property.ts';

const passkey = text('the name of the passkey', 'laptop');
const purpose = text('owner, invitation or reset', 'invitation');
const member = {
  member_id: memberId,
  name: memberName,
  email: text('e-mail address', 'ada@example.com'),
  roles: texts('ids of roles', ['viewer']),
  status: text('active, invited or suspended', 'active'),
};

/** Members, and how they prove who they are. */
export const MEMBER_KINDS = {
  member_added: kind({
    meaning: 'A member was added.',
    group: 'members',
    severity: 'low',
    activity: 'add_user',
    target: 'member',
    targetName: 'name',
    properties: member,
  }),
  member_changed: kind({
    meaning: 'The name, address, roles, status or login of a member changed.',
    group: 'members',
    severity: 'low',
    activity: 'change_user',
    target: 'member',
    targetName: 'name',
    properties: {
      ...member,
      changed: CHANGES.changed,
      from: optional(CHANGES.from),
      to: optional(CHANGES.to),
      by: optional(text('oidc: accepted by single sign-on', 'oidc')),
    },
  }),
  member_removed: kind({
    meaning: 'A member was removed.',
    group: 'members',
    severity: 'low',
    activity: 'delete_user',
    target: 'member',
    targetName: 'name',
    properties: { ...member, declined: optional(flag('whether the person declined the invitation')) },
  }),
  link_created: kind({
    meaning: 'A one-time link was created, with which a person joins or sets a new password.',
    group: 'members',
    activity: 'create',
    target: 'member',
    properties: {
      member_id: orNull(idField('the member; null = a new owner', 3)),
      purpose,
      expires_at: instant('until when it is valid'),
    },
  }),
  link_used: kind({
    meaning: 'A one-time link was used: a person joined, or set a new password.',
    group: 'members',
    severity: 'low',
    activity: 'change_password',
    actor: 'member',
    target: 'member',
    properties: { member_id: orNull(memberId), purpose },
  }),
  password_changed: kind({
    meaning: 'A member changed their password.',
    group: 'members',
    severity: 'low',
    activity: 'change_password',
    actor: 'member',
    target: 'member',
    targetName: 'name',
    properties: { member_id: memberId, name: memberName },
  }),
  passkey_added: kind({
    meaning: 'A member added a passkey.',
    group: 'members',
    severity: 'low',
    activity: 'add_factor',
    actor: 'member',
    target: 'member',
    targetName: 'name',
    properties: { member_id: memberId, name: memberName, passkey },
  }),
  passkey_removed: kind({
    meaning: 'A member removed a passkey.',
    group: 'members',
    severity: 'low',
    activity: 'remove_factor',
    actor: 'member',
    target: 'member',
    targetName: 'name',
    properties: { member_id: memberId, name: memberName, passkey },
  }),
};
