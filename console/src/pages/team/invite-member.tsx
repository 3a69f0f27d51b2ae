import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Invitation, Invited } from '../../../../src/console-api/members/member-routes.ts';
import { fieldError, send } from '../../api.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { InlineError } from '../../parts/states.tsx';
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
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [given, setGiven] = useState<RoleId[]>(['viewer']);
  const queries = useQueryClient();
  const invite = useMutation({
    mutationFn: (body: Invitation) => send<Invited>('POST', '/members', body),
    gcTime: 0, // the answer holds the link
    onSuccess: async ({ member, link }) => {
      onInvited({ ...link, name: member.name, email: member.email });
      await queries.invalidateQueries({ queryKey: ['members'] });
    },
  });
  const { error } = invite;
  return (
    <FormDialog
      action="Invite"
      isDisabled={given.length === 0}
      isPending={invite.isPending}
      onClose={onClose}
      onSubmit={() => invite.mutate({ name: name.trim(), email: email.trim(), roles: given })}
      title="Invite member"
    >
      <InlineError error={error} fields={['name', 'email']} />
      <TextField
        autoFocus
        error={fieldError(error, 'name')}
        isRequired
        label="Name"
        maxLength={200}
        onChange={setName}
        value={name}
      />
      <TextField
        autoComplete="off"
        description="Used to sign in."
        error={fieldError(error, 'email')}
        isRequired
        label="E-mail address"
        maxLength={200}
        onChange={setEmail}
        type="email"
        value={email}
      />
      <RoleBoxes onChange={setGiven} roles={roles} value={given} />
    </FormDialog>
  );
}
