import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Sessions } from '../../../../src/console-api/sign-in/session-list.ts';
import { readPages, send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmRequest } from '../../parts/confirm-request.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { Section } from '../../parts/page.tsx';
import { Loaded, SkeletonRows } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useSignOut } from '../../shell/sign-out.ts';
import { deviceName } from './device.ts';

type Session = Sessions['data'][number];

function columns(onEnd: (session: Session) => void): Column<Session>[] {
  return [
    {
      header: 'Device',
      width: 'minmax(0, 2fr)',
      narrow: 'lead',
      cell: ({ user_agent, current }) => (
        <span className="session-device" title={user_agent}>
          <bdi className="session-name">{deviceName(user_agent)}</bdi>
          {current && <StatusMark status="active" word="This session" />}
        </span>
      ),
    },
    {
      header: 'From',
      cell: ({ source_ip }) => <span className="mono">{source_ip}</span>,
    },
    { header: 'Account', cell: ({ account_name }) => account_name },
    { header: 'Last seen', cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
    { header: 'Signed in', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      header: 'Sign out',
      hideHeader: true,
      width: 'auto',
      align: 'end',
      narrow: 'corner',
      cell: (session) => (
        <Button
          aria-label={session.current ? 'Sign out here' : `Sign out ${deviceName(session.user_agent)}`}
          onPress={() => onEnd(session)}
          small
        >
          Sign out
        </Button>
      ),
    },
  ];
}

/** All sessions of the person; each can be ended immediately. */
export function SessionList() {
  const sessions = useInfiniteQuery(readPages<Sessions>('/sessions'));
  const [ending, setEnding] = useState<Session | null>(null);
  const signOut = useSignOut();
  const signOutEverywhere = useSignOut({ everywhere: true });
  const [isEndingAll, setEndingAll] = useState(false);
  const ask = (session: Session) => {
    if (session.current) signOut.mutate();
    else setEnding(session);
  };
  return (
    <Section
      actions={
        <Button
          icon="out"
          onPress={() => {
            signOutEverywhere.reset();
            setEndingAll(true);
          }}
        >
          Sign out everywhere
        </Button>
      }
      description="Signing out takes effect immediately. A session ends after 12 hours without use."
      title="Where you are signed in"
    >
      <Loaded query={sessions} skeleton={<SkeletonRows rows={2} />}>
        {({ pages }) => (
          <Table
            columns={columns(ask)}
            label="Sessions"
            rowKey={({ id }) => id}
            rows={pages.flatMap(({ data }) => data)}
          />
        )}
      </Loaded>
      <MoreButton list={sessions} />
      {ending && <EndSession onClose={() => setEnding(null)} session={ending} />}
      {isEndingAll && (
        <Confirm
          action="Sign out everywhere"
          onClose={() => setEndingAll(false)}
          title="Sign out everywhere?"
          work={signOutEverywhere}
        >
          <p>This ends all your sessions, in every browser and account, including this one.</p>
        </Confirm>
      )}
    </Section>
  );
}

function EndSession({ session, onClose }: { session: Session; onClose: () => void }) {
  const { id, user_agent, source_ip } = session;
  return (
    <ConfirmRequest
      action="Sign out"
      done="Session signed out"
      onClose={onClose}
      renews={['sessions']}
      request={() => send('DELETE', `/sessions/${id}`)}
      title="Sign out this session?"
    >
      <p>
        {deviceName(user_agent)}, signed in from {source_ip}, must sign in again.
      </p>
    </ConfirmRequest>
  );
}
