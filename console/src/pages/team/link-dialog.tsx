import type { MemberLink } from '../../../../src/console-api/members/member-routes.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Time } from '../../parts/time.tsx';

/** A link that was just created for a member. */
export interface NewLink extends MemberLink {
  name: string;
  email: string;
}

/** Shows a one-time link once. A lost link can be replaced by a new one. */
export function LinkDialog({ link, onDone }: { link: NewLink; onDone: () => void }) {
  const { purpose, url, expires_at, name, email } = link;
  return (
    <Dialog
      done="Done"
      isLocked
      onClose={onDone}
      title={purpose === 'invitation' ? 'Send this invitation' : 'Send this link'}
      wide
    >
      <p>
        The service sends no e-mail. Send the link to <bdi className="team-name">{name}</bdi> (
        <bdi>{email}</bdi>) and nobody else: the first person to use it{' '}
        {purpose === 'invitation' ? 'joins as them' : 'sets their password'}.
      </p>
      <CodeBlock text={url} what={purpose === 'invitation' ? 'invitation link' : 'password reset link'} />
      <p className="quiet">
        The link works once, until <Time as="full" at={expires_at} />. It is shown only now. If you create
        another link, this one stops working.
      </p>
    </Dialog>
  );
}
