import './team.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Member } from '../../../../src/console-api/members/member-routes.ts';
import { Button } from '../../parts/button.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { useRestoredFocus } from '../../parts/restore-focus.ts';
import { Loaded, NoPermission } from '../../parts/states.tsx';
import { useCan, useProfile } from '../../shell/profile.ts';
import { ConfirmMember, type MemberStep } from './confirm-member.tsx';
import { EditMember } from './edit-member.tsx';
import { InviteMember } from './invite-member.tsx';
import { LinkDialog, type NewLink } from './link-dialog.tsx';
import { MemberList } from './member-list.tsx';
import { membersQuery } from './members.ts';
import { RoleMatrix } from './role-matrix.tsx';
import { rolesQuery } from './roles.ts';

type OpenDialog =
  | { what: 'invite' }
  | { what: 'edit'; subject: Member }
  | { what: MemberStep; subject: Member }
  | { what: 'shown'; link: NewLink };

/** The members of the account, and what each role allows. */
export function TeamPage() {
  const can = useCan();
  const { account, member } = useProfile();
  const [asked, setAsked] = useState<OpenDialog | null>(null);
  const roles = useQuery(rolesQuery);
  const close = () => setAsked(null);
  useRestoredFocus(asked !== null);
  const showLink = (link: NewLink) => setAsked({ what: 'shown', link });
  const isTeam = account.kind === 'company';
  return (
    <Page
      actions={
        can('members:write') &&
        isTeam && (
          <Button
            icon="plus"
            isDisabled={!roles.data}
            kind="primary"
            onPress={() => setAsked({ what: 'invite' })}
          >
            Invite member
          </Button>
        )
      }
      description={
        isTeam
          ? 'Members sign in to this account. Roles decide what they can do. A member can have several.'
          : 'This is an individual account. A team needs a company account.'
      }
      title="Team"
    >
      {can('members:read') ? (
        <Members
          onEdit={(subject) => setAsked({ what: 'edit', subject })}
          onStep={(what, subject) => setAsked({ what, subject })}
        />
      ) : (
        <NoPermission permission="members:read" />
      )}
      <Section description="Roles are the same in every account." title="Roles">
        <Loaded query={roles}>
          {(all) => (
            <>
              <RoleMatrix own={member.roles} roles={all} />
              <dl className="team-role-words">
                {all.map(({ id, name, description }) => (
                  <div key={id}>
                    <dt>{name}</dt>
                    <dd>{description}</dd>
                  </div>
                ))}
              </dl>
            </>
          )}
        </Loaded>
      </Section>
      {asked?.what === 'invite' && (
        <InviteMember onClose={close} onInvited={showLink} roles={roles.data ?? []} />
      )}
      {asked?.what === 'edit' && (
        <EditMember onClose={close} roles={roles.data ?? []} subject={asked.subject} />
      )}
      {asked && asked.what !== 'invite' && asked.what !== 'edit' && asked.what !== 'shown' && (
        <ConfirmMember onClose={close} onLink={showLink} step={asked.what} subject={asked.subject} />
      )}
      {asked?.what === 'shown' && <LinkDialog link={asked.link} onDone={close} />}
    </Page>
  );
}

interface MembersProps {
  onEdit: (member: Member) => void;
  onStep: (step: MemberStep, member: Member) => void;
}

function Members(acts: MembersProps) {
  const { member } = useProfile();
  const members = useQuery(membersQuery);
  const roles = useQuery(rolesQuery);
  return (
    <Loaded query={members}>
      {({ data }) => <MemberList {...acts} members={data} ownId={member.id} roles={roles.data ?? []} />}
    </Loaded>
  );
}
