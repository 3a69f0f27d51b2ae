import { kind } from './action-kind.ts';
import { flag, idField, ids, memberId, memberName, optional, orNull, text, userAgent } from './property.ts';

const member = { member_id: memberId, name: memberName };

/** Requests by key, and persons who sign in or out. */
export const SIGN_IN_KINDS = {
  member_signed_in: kind({
    meaning: 'A member signed in.',
    group: 'sign_in',
    activity: 'logon',
    actor: 'member',
    target: 'member',
    targetName: 'name',
    properties: {
      ...member,
      by: text(
        'password, passkey, oidc (single sign-on), link, or session for one who changes the account',
        'password',
      ),
      user_agent: optional(userAgent),
    },
  }),
  member_sign_in_failed: kind({
    meaning: 'Somebody entered a wrong password for a member.',
    group: 'sign_in',
    severity: 'medium',
    outcome: 'failure',
    activity: 'logon',
    target: 'member',
    targetName: 'name',
    properties: {
      actor: text('`unknown`: nobody has signed in', 'unknown'),
      ...member,
      user_agent: userAgent,
    },
  }),
  member_signed_out: kind({
    meaning: 'A member signed out.',
    group: 'sign_in',
    activity: 'logoff',
    actor: 'member',
    target: 'member',
    targetName: 'name',
    properties: member,
  }),
  session_ended: kind({
    meaning: 'A session was signed out from another one, or because a member had too many.',
    group: 'sign_in',
    activity: 'logoff',
    actor: 'member',
    target: 'member',
    targetName: 'name',
    properties: {
      ...member,
      session_id: optional(orNull(idField('the session', 9))),
      session_ids: optional(ids('the sessions', [7, 8])),
      everywhere: optional(flag('whether all other sessions of the member ended')),
      too_many: optional(flag('whether the oldest sessions ended because there were too many')),
    },
  }),
};
