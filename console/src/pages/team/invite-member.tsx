import { useState } from 'react';
import type { Invitation, Invited } from '../../../../src/console-api/members/member-routes.ts';
import { send } from '../../api.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { useAction } from '../../parts/use-action.ts';
import { useDraft } from '../../parts/use-draft.ts';
import { EmailField } from './email-field.tsx';
import type { NewLink } from './link-dialog.tsx';
import { RoleBoxes } from './role-boxes.tsx';
import type { Role, RoleId } from './roles.ts';

interface InviteMemberProps {
  roles: readonly Role[];
  onClose: () => void;
  onInvited: (link: NewLink) => void;
}

/** The form that invites a member; its result is an invitation link. */
export function InviteMember({ roles, onClose, onInvited }: InviteMemberProps) {
  const { draft, bind } = useDraft({ name: '', email: '' });
  const [given, setGiven] = useState<RoleId[]>(['viewer']);
  const invite = useAction({
    request: (): Promise<Invited> =>
      send('POST', '/members', {
        name: draft.name.trim(),
        email: draft.email.trim(),
        roles: given,
      } satisfies Invitation),
    renews: ['members'],
    onDone: ({ member, link }) => onInvited({ ...link, name: member.name, email: member.email }),
  });
  return (
    <FormDialog
      action="Invite"
      isDisabled={given.length === 0}
      onClose={onClose}
      title="Invite member"
      work={invite}
    >
      <TextField {...bind('name')} autoFocus isRequired label="Name" maxLength={200} />
      <EmailField {...bind('email')} description="Used to sign in." />
      <RoleBoxes onChange={setGiven} roles={roles} value={given} />
    </FormDialog>
  );
}
