import './notifications.css';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { Destination } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { Button } from '../../parts/button.tsx';
import { Page } from '../../parts/page.tsx';
import { Loaded, Message } from '../../parts/states.tsx';
import { useCan } from '../../shell/profile.ts';
import { CHANNEL_TEXTS } from './channel-texts.ts';
import { Deliveries } from './deliveries/deliveries.tsx';
import { actionsOf } from './destination-actions.ts';
import { DestinationFacts } from './destination-facts.tsx';
import { destinationsQuery } from './destinations.ts';
import { Recipients } from './recipients.tsx';
import { useSteps } from './use-steps.tsx';

const BACK = (
  <Link search={{}} to="/notifications">
    ← Notifications
  </Link>
);

/** One destination: its settings, its health and its deliveries. */
export function DestinationPage() {
  const { id } = useParams({ from: '/in/notifications/$id' });
  const can = useCan();
  const query = useQuery(destinationsQuery);
  const destination = query.data?.items.find((one) => String(one.id) === id);
  if (destination) return <Content destination={destination} key={id} mayWrite={can('keys:write')} />;
  return (
    <Page back={BACK} title="Destination">
      <Loaded query={query}>
        {() => (
          <Message icon="search" title="Not found">
            It was removed, or it belongs to another account.
          </Message>
        )}
      </Loaded>
    </Page>
  );
}

function Content({ destination, mayWrite }: { destination: Destination; mayWrite: boolean }) {
  const navigate = useNavigate();
  const { data: known } = useQuery(destinationsQuery);
  const { act, dialogs } = useSteps(known, () => void navigate({ to: '/notifications', search: {} }));
  const { name, channel, target } = destination;
  return (
    <Page
      actions={
        mayWrite &&
        actionsOf(destination, act).map(({ label, icon, onAction }) => (
          <Button key={label} onPress={onAction} {...(icon && { icon })}>
            {label}
          </Button>
        ))
      }
      back={BACK}
      description={
        <>
          {CHANNEL_TEXTS[channel].name} · <bdi>{target}</bdi>
        </>
      }
      title={name}
    >
      <DestinationFacts destination={destination} />
      {channel === 'email' && <Recipients destination={destination} mayWrite={mayWrite} />}
      <Deliveries destination={destination} mayWrite={mayWrite} />
      {dialogs}
    </Page>
  );
}
