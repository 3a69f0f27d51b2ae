import type { Member } from '../../../../src/console-api/members/member-routes.ts';
import { actionsColumn } from '../../parts/actions-column.tsx';
import type { IconName } from '../../parts/icons.tsx';
import type { Action } from '../../parts/menu.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import type { MemberStep } from './confirm-member.tsx';
import type { Role } from './roles.ts';

interface MemberListProps {
  members: readonly Member[];
  roles: readonly Role[];
  /** The viewer's member id. */
  ownId: number;
  onEdit: (member: Member) => void;
  onStep: (step: MemberStep, member: Member) => void;
}

/** The members of the account, with the actions on each. */
export function MemberList({ members, roles, ...acts }: MemberListProps) {
  const nameOf = new Map<string, string>(roles.map(({ id, name }) => [id, name]));
  return (
    <Table
      columns={columns(nameOf, acts)}
      label="Members"
      rowHeight={60}
      rowKey={({ id }) => id}
      rows={members}
    />
  );
}

type Acts = Pick<MemberListProps, 'ownId' | 'onEdit' | 'onStep'>;

function actionsOf(member: Member, { ownId, onEdit, onStep }: Acts): Action[] {
  if (!member.may_change) return [];
  const edit: Action = { label: 'Edit…', icon: 'pen', onAction: () => onEdit(member) };
  // Members can't suspend or remove themselves: another owner must.
  if (member.id === ownId) return [edit];
  const { joined, status } = member;
  const act = (step: MemberStep, icon: IconName, label: string): Action => ({
    label,
    icon,
    danger: step === 'remove',
    onAction: () => onStep(step, member),
  });
  const remove = act('remove', 'bin', joined ? 'Remove…' : 'Revoke invitation…');
  const link = act('link', 'copy', joined ? 'Create password reset link…' : 'Create invitation link…');
  if (status === 'suspended') return [edit, act('resume', 'check', 'Reactivate…'), remove];
  return [edit, link, ...(status === 'active' ? [act('suspend', 'lock', 'Suspend…')] : []), remove];
}

function columns(nameOf: Map<string, string>, acts: Acts): Column<Member>[] {
  return [
    {
      header: 'Member',
      width: 'minmax(10rem, 2fr)',
      narrow: 'lead',
      cell: ({ id, name, email }) => (
        <>
          <bdi className="team-name">{name}</bdi>
          {id === acts.ownId && <span className="team-own">you</span>}
          <div className="small quiet">
            <bdi>{email}</bdi>
          </div>
        </>
      ),
    },
    {
      header: 'Roles',
      width: 'minmax(8rem, 1.4fr)',
      cell: ({ roles }) => roles.map((role) => nameOf.get(role) ?? role).join(', '),
    },
    {
      header: 'Status',
      width: 'minmax(7rem, 1fr)',
      cell: ({ status }) => <StatusMark quiet status={status} />,
    },
    { header: 'Joined', width: 'minmax(8rem, 1.2fr)', cell: Joined },
    {
      header: 'Last active',
      width: 'minmax(7rem, 1fr)',
      cell: ({ id, last_active_at }) => {
        if (id === acts.ownId) return 'now';
        return last_active_at ? <Time at={last_active_at} /> : <span className="quiet">never</span>;
      },
    },
    actionsColumn(
      ({ name, email }) => `${name}, ${email}`,
      (member) => actionsOf(member, acts),
    ),
  ];
}

function Joined({ status, joined_at, link_expires_at }: Member) {
  if (status !== 'invited') return <Time at={joined_at} />;
  return (
    <>
      <span className="quiet">invited</span> <Time at={joined_at} />
      <div className={link_expires_at ? 'small quiet' : 'small team-late'}>
        {link_expires_at ? (
          <>
            link expires <Time at={link_expires_at} />
          </>
        ) : (
          'no valid link: create a new one'
        )}
      </div>
    </>
  );
}
