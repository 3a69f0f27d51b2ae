import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member, MemberChange } from '../../../../src/console-api/members/member-routes.ts';
import { ApiError, send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { EmailField } from './email-field.tsx';
import { membersQuery } from './members.ts';
import { RoleBoxes } from './role-boxes.tsx';
import type { Role } from './roles.ts';

interface EditMemberProps {
  subject: Member;
  roles: readonly Role[];
  onClose: () => void;
}

/**
 * Edits a member's name, roles and, before they joined, e-mail address. If someone else changed the member since the form
 * was opened, the form shows it and overwrites nothing.
 */
export function EditMember({ subject, roles, onClose }: EditMemberProps) {
  const [base, setBase] = useState(subject);
  const { draft, change, bind } = useDraft({ name: subject.name, email: subject.email });
  const name = draft.name.trim();
  const email = draft.email.trim();
  const [given, setGiven] = useState(subject.roles);
  const [isMoved, setMoved] = useState(false);
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: () =>
      send<Member>('PATCH', `/members/${base.id}`, {
        version: base.version,
        name,
        roles: given,
        ...(email !== base.email && { email }),
      } satisfies MemberChange),
    onSuccess: async () => {
      onClose();
      notify('Member saved');
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['members'] }),
        queries.invalidateQueries({ queryKey: ['me'] }),
      ]);
    },
    onError: async (error) => {
      if (!(error instanceof ApiError && error.status === 409)) return;
      const { data } = await queries.fetchQuery({ ...membersQuery, staleTime: 0 });
      const now = data.find(({ id }) => id === base.id);
      if (!now || now.version === base.version) return;
      setBase(now);
      setMoved(true);
    },
  });
  const takeTheirs = () => {
    change({ name: base.name, email: base.email });
    setGiven(base.roles);
    setMoved(false);
    save.reset();
  };
  const submit = () => {
    setMoved(false);
    save.mutate();
  };
  return (
    <FormDialog
      action={isMoved ? 'Overwrite' : 'Save'}
      isDisabled={given.length === 0}
      onClose={onClose}
      onSubmit={submit}
      title="Edit member"
      work={save}
    >
      {isMoved && (
        <div className="team-moved">
          <p>
            The member is now <bdi className="team-name">{base.name}</bdi>, <bdi>{base.email}</bdi>, with the
            roles {base.roles.join(', ')}.
          </p>
          <Button onPress={takeTheirs} small>
            Use current values
          </Button>
        </div>
      )}
      <TextField {...bind('name')} isRequired label="Name" maxLength={200} />
      <EmailField
        {...bind('email')}
        description={
          base.joined
            ? 'Used to sign in. It can’t be changed.'
            : 'A new address invalidates the invitation link. Create a new one.'
        }
        isReadOnly={base.joined}
      />
      <RoleBoxes onChange={setGiven} roles={roles} value={given} />
    </FormDialog>
  );
}
