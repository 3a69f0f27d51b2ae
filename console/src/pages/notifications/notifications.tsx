import './notifications.css';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type {
  Destinations,
  StoredDestination,
} from '../../../../src/console-api/notifications/destination-schemas.ts';
import type { Channel } from '../../../../src/vocabulary/channels.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Page } from '../../parts/page.tsx';
import { useRestoredFocus } from '../../parts/restore-focus.ts';
import { Loaded, Message, NoPermission } from '../../parts/states.tsx';
import { useCan } from '../../shell/profile.ts';
import { AddedDialog } from './added-dialog.tsx';
import { ChannelIcon } from './channel-icon.tsx';
import { CHANNEL_TEXTS, OFFERED } from './channel-texts.ts';
import { DestinationList } from './destination-list.tsx';
import { destinationsQuery } from './destinations.ts';
import { DestinationForm } from './form/destination-form.tsx';
import { useSteps, useTest } from './use-steps.tsx';

/** Where the account's events are sent. */
export function NotificationsPage() {
  const mayWrite = useCan()('keys:write');
  const { add } = useSearch({ from: '/in/notifications' });
  const navigate = useNavigate({ from: '/notifications' });
  const query = useQuery(destinationsQuery);
  const { act, dialogs } = useSteps(query.data);
  const isEmpty = query.data?.items.length === 0;
  const isFull = query.data !== undefined && query.data.items.length >= query.data.limits.most;
  const close = () => void navigate({ search: {}, replace: true });
  return (
    <Page
      actions={
        mayWrite &&
        query.data &&
        !isEmpty && (
          <Button
            icon="plus"
            isDisabled={isFull}
            kind="primary"
            onPress={() => void navigate({ search: { add: 'channel' } })}
          >
            Add destination
          </Button>
        )
      }
      description={
        isFull
          ? `This account has ${query.data?.limits.most} destinations, the most that it can have.`
          : 'Where tickets, alerts and health checks are sent.'
      }
      title="Notifications"
    >
      <Loaded query={query}>
        {({ items, channels }) =>
          items.length === 0 ? (
            <NoDestinations channels={channels} mayAdd={mayWrite} />
          ) : (
            <DestinationList act={mayWrite ? act : null} destinations={items} />
          )
        }
      </Loaded>
      {query.data && (
        <Adding add={mayWrite ? add : undefined} known={query.data} onClose={close} onStep={act} />
      )}
      {add && !mayWrite && (
        <Dialog onClose={close} title="Add a destination">
          <NoPermission permission="keys:write" />
        </Dialog>
      )}
      {dialogs}
    </Page>
  );
}

interface AddingProps {
  add: Channel | 'channel' | undefined;
  known: Destinations;
  onClose: () => void;
  onStep: ReturnType<typeof useSteps>['act'];
}

/** The steps to a new destination: its channel, its form, and the answer to its test. */
function Adding({ add, known, onClose, onStep }: AddingProps) {
  const queries = useQueryClient();
  const [made, setMade] = useState<StoredDestination | null>(null);
  const test = useTest();
  useRestoredFocus(add !== undefined || made !== null);
  const added = (next: StoredDestination) => {
    setMade(next);
    onClose();
    void queries.invalidateQueries({ queryKey: ['destinations'] });
    if (next.destination.channel !== 'email') test.mutate(next.destination.id);
  };
  if (made) {
    const done = () => {
      setMade(null);
      test.reset();
    };
    return (
      <AddedDialog
        made={made}
        onChange={() => {
          onStep('change', made.destination);
          done();
        }}
        onDone={done}
        test={test}
      />
    );
  }
  if (add === undefined) return null;
  if (add === 'channel' || !known.channels.includes(add)) {
    return (
      <Dialog onClose={onClose} title="Add a destination" wide>
        <ChannelCards available={known.channels} />
      </Dialog>
    );
  }
  return (
    <DestinationForm
      channel={add}
      destination={null}
      key={add}
      known={known}
      onClose={onClose}
      onStored={added}
    />
  );
}

function NoDestinations({ channels, mayAdd }: { channels: readonly Channel[]; mayAdd: boolean }) {
  if (!mayAdd) {
    return (
      <Message icon="bell" title="No destinations yet">
        Nothing is sent. An owner or administrator can add a destination.
      </Message>
    );
  }
  return (
    <section aria-labelledby="first-destination" className="no-destinations">
      <h2 id="first-destination">Where should dbvitals send what it finds?</h2>
      <p className="quiet">
        A destination gets a message when a ticket or an alert opens or is resolved. Choose a channel: you
        need its address, and a test message shows at once whether it works.
      </p>
      <ChannelCards available={channels} />
    </section>
  );
}

/** The channels as cards; each opens its form. `available` are those that this service can send to. */
function ChannelCards({ available }: { available: readonly Channel[] }) {
  return (
    <ul className="channel-cards">
      {OFFERED.map((channel) => (
        <li key={channel}>
          <ChannelCard channel={channel} isAvailable={available.includes(channel)} />
        </li>
      ))}
    </ul>
  );
}

function ChannelCard({ channel, isAvailable }: { channel: Channel; isAvailable: boolean }) {
  const { name, words } = CHANNEL_TEXTS[channel];
  const content = (
    <>
      <ChannelIcon channel={channel} />
      <span>
        <span className="channel-name">{name}</span>
        <span className="channel-words">{isAvailable ? words : 'Needs DBVITALS_SMTP_URL'}</span>
      </span>
    </>
  );
  if (!isAvailable) return <div className="channel-card not-available">{content}</div>;
  return (
    <Link className="channel-card" from="/notifications" search={{ add: channel }} to="/notifications">
      {content}
    </Link>
  );
}
