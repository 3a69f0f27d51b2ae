import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Invitation, Invited } from '../../../../src/console/members.ts';
import { ApiError, fieldError, send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
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

/** The form for a new member; what comes of it is a link. */
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (given.length > 0) invite.mutate({ name: name.trim(), email: email.trim(), roles: given });
  };
  const { error } = invite;
  const isOfField = error instanceof ApiError && ['name', 'email'].includes(error.parameter ?? '');
  return (
    <Dialog
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            form="invite-member"
            isDisabled={given.length === 0}
            isPending={invite.isPending}
            kind="primary"
            type="submit"
          >
            Make invitation
          </Button>
        </>
      }
      isLocked={invite.isPending}
      isOpen
      onClose={onClose}
      title="Invite a member"
    >
      {!isOfField && <InlineError error={error} />}
      <form className="team-form" id="invite-member" onSubmit={submit}>
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
          description="They sign in by it."
          error={fieldError(error, 'email')}
          isRequired
          label="E-mail address"
          maxLength={200}
          onChange={setEmail}
          type="email"
          value={email}
        />
        <RoleBoxes onChange={setGiven} roles={roles} value={given} />
      </form>
    </Dialog>
  );
}
