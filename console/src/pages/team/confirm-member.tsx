import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Member, MemberLink } from '../../../../src/console-api/members/member-routes.ts';
import { send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import type { NewLink } from './link-dialog.tsx';

/** Actions on a member that ask for confirmation. */
export type MemberStep = 'suspend' | 'resume' | 'remove' | 'link';

interface Words {
  title: string;
  action: string;
  kind: 'primary' | 'danger';
  text: string;
  done: string | null;
}

function wordsOf(step: MemberStep, { joined }: Member): Words {
  switch (step) {
    case 'suspend':
      return {
        title: 'Suspend this member?',
        action: 'Suspend',
        kind: 'danger',
        done: 'Member suspended',
        text: 'loses access immediately and is signed out of this account. You can reactivate them at any time.',
      };
    case 'resume':
      return {
        title: 'Reactivate this member?',
        action: 'Reactivate',
        kind: 'primary',
        done: 'Member reactivated',
        text: 'can sign in to this account again with their previous roles.',
      };
    case 'remove':
      return joined
        ? {
            title: 'Remove this member?',
            action: 'Remove',
            kind: 'danger',
            done: 'Member removed',
            text: 'loses access immediately. API keys that they created keep working: revoke the keys that they know.',
          }
        : {
            title: 'Revoke this invitation?',
            action: 'Revoke invitation',
            kind: 'danger',
            done: 'Invitation revoked',
            text: 'is no longer invited, and the link stops working.',
          };
    case 'link':
      return joined
        ? {
            title: 'Create a password reset link?',
            action: 'Create link',
            kind: 'primary',
            done: null,
            text: 'can use the link to choose a new password within a day. The old password works until then.',
          }
        : {
            title: 'Create a new invitation link?',
            action: 'Create link',
            kind: 'primary',
            done: null,
            text: 'can use the link to join within seven days. Earlier links stop working.',
          };
  }
}

function take(step: MemberStep, { id, version }: Member): Promise<MemberLink | undefined> {
  if (step === 'remove') return send<undefined>('DELETE', `/members/${id}`);
  if (step === 'link') return send<MemberLink>('POST', `/members/${id}/link`);
  return send<undefined>('PATCH', `/members/${id}`, {
    version,
    status: step === 'suspend' ? 'suspended' : 'active',
  });
}

interface ConfirmMemberProps {
  subject: Member;
  step: MemberStep;
  onClose: () => void;
  onLink: (link: NewLink) => void;
}

/** Asks for confirmation, then suspends, reactivates or removes a member, or creates a link for them. */
export function ConfirmMember({ subject, step, onClose, onLink }: ConfirmMemberProps) {
  const { title, action, kind, text, done } = wordsOf(step, subject);
  const queries = useQueryClient();
  const mutation = useMutation({
    mutationFn: () => take(step, subject),
    gcTime: 0, // the answer may hold a link
    onSuccess: (link) => {
      if (step === 'link' && link) onLink({ ...link, name: subject.name, email: subject.email });
      else onClose();
      if (done) notify(done);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['members'] }),
  });
  return (
    <Confirm action={action} kind={kind} onClose={onClose} title={title} work={mutation}>
      <p>
        <bdi className="team-name">{subject.name}</bdi> (<bdi>{subject.email}</bdi>) {text}
      </p>
    </Confirm>
  );
}
