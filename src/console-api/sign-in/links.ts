import type { LinkPurpose } from '../../accounts/members/add-link.ts';
import { findLink, invitedPerson } from '../../accounts/sign-in/find-link.ts';
import { keepDevice } from '../../accounts/sign-in/known-device.ts';
import { NewPassword } from '../../accounts/sign-in/password.ts';
import { personOf, startSession } from '../../accounts/sign-in/sessions.ts';
import { joinByLink, type LinkInput, resetPassword } from '../../accounts/sign-in/use-link.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { type ConsoleRoute, openRoute } from '../route.ts';
import { singleLine } from '../single-line.ts';
import { fieldValidationError } from '../validation-error.ts';
import { Email } from './sign-in-routes.ts';

/** What a one-time link is for, before it is used. It reveals nothing about other accounts with the address. */
export const Link = Type.Object({
  purpose: Type.Unsafe<LinkPurpose>({ type: 'string', enum: ['owner', 'invitation', 'reset'] }),
  account_name: Type.String(),
  /** Null for the purpose owner: the person who opens it enters it. */
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  /** Whether this browser is signed in with single sign-on and this address: then no password is needed. */
  signed_in: Type.Boolean(),
  /** Whose session in this browser ends when the link is used; null = nobody is signed in, or as this person. */
  session_email: nullable(Type.String()),
});
export type Link = Static<typeof Link>;

const name = singleLine(200, 'Enter your name, 1 to 200 characters.');

/** `email` for the purpose owner; `name` for an owner and a new login; `password` unless signed in as the login. */
const UseLink = Type.Object({
  name: Type.Optional(name),
  email: Type.Optional(Email),
  password: Type.Optional(NewPassword),
});

const showLink = openRoute({
  method: 'GET',
  path: '/link/:token',
  permission: 'anyone',
  response: Link,
  async handler(asked) {
    const link = await findLink(asked.parts.stores, asked.params['token'] ?? '');
    const { purpose, account_name, email, name } = link;
    const signedIn = await personOf(asked.parts.control, asked.caller.sessionToken);
    const invited = await invitedPerson(asked, link);
    const session_email = invited ? null : (signedIn?.email ?? null);
    return { purpose, account_name, email, name, signed_in: invited !== null, session_email };
  },
});

const useLink = openRoute({
  method: 'POST',
  path: '/link/:token',
  permission: 'anyone',
  body: UseLink,
  response: null,
  async handler(asked) {
    const { parts, params } = asked;
    const token = params['token'] ?? '';
    const link = await findLink(parts.stores, token);
    const given: LinkInput = {
      name: asked.body.name,
      required(field) {
        const value = asked.body[field];
        if (value === undefined) throw fieldValidationError(UseLink, field);
        return value;
      },
    };
    const open = link.purpose === 'reset' ? resetPassword : joinByLink;
    const { loginId, password, person } = await open(asked, link, token, given);
    const provedEmail = person?.provedEmail ?? null;
    const proof = { by: 'link' as const, password: password?.password };
    await startSession(asked, loginId, proof, { accountId: link.account_id, provedEmail });
    if (password) keepDevice(asked, [password]);
  },
});

export const linkRoutes: ConsoleRoute[] = [showLink, useLink];
