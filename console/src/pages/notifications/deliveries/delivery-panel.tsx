import { useQuery } from '@tanstack/react-query';
import type { DeliveryDetail } from '../../../../../src/console-api/notifications/delivery-routes.ts';
import { send } from '../../../api.ts';
import { Button } from '../../../parts/button.tsx';
import { CodeBlock } from '../../../parts/copy.tsx';
import { figure } from '../../../parts/figure.ts';
import { Facts } from '../../../parts/page.tsx';
import { PanelHeading, SidePanel } from '../../../parts/side-panel.tsx';
import { InlineError, Loaded } from '../../../parts/states.tsx';
import { Time } from '../../../parts/time.tsx';
import { useAction } from '../../../parts/use-action.ts';
import { visibleText } from '../../../parts/visible-text.ts';
import { Attempts } from './attempts.tsx';
import { DeliveryMark, DeliverySubject } from './delivery-list.tsx';
import { deliveryQuery } from './delivery-queries.ts';

interface DeliveryPanelProps {
  id: string;
  mayResend: boolean;
  onClose: () => void;
}

/** A delivery beside the list, or instead of it on narrow screens: what was sent, and what came back. */
export function DeliveryPanel({ id, mayResend, onClose }: DeliveryPanelProps) {
  const query = useQuery(deliveryQuery(id));
  return (
    <SidePanel id={id} kind="delivery" onClose={onClose}>
      <Loaded query={query}>{(delivery) => <Content delivery={delivery} mayResend={mayResend} />}</Loaded>
    </SidePanel>
  );
}

function Content({ delivery, mayResend }: { delivery: DeliveryDetail; mayResend: boolean }) {
  const { id, kind, state, title, connection_name, event_id, sequence, attempts, reason, body } = delivery;
  return (
    <div className="panel-content">
      <div>
        <DeliveryMark attempts={attempts.length} state={state} />
        <PanelHeading>{visibleText(title)}</PanelHeading>
        <p className="quiet">
          <DeliverySubject connection_name={connection_name} kind={kind} />
        </p>
        {reason !== null && (
          <p>
            <bdi>{visibleText(reason)}</bdi>
          </p>
        )}
      </div>
      <Facts
        facts={[
          ['Sequence', figure(sequence)],
          ['Queued', <Time as="local" at={delivery.queued_at} key="queued" seconds />],
          delivery.state === 'queued'
            ? ['Next attempt', <TimeOr at={delivery.due_at} key="due" otherwise="not planned" />]
            : ['Ended', <TimeOr at={delivery.ended_at} key="ended" otherwise="not yet" />],
          ['Event', <code key="event">{event_id}</code>],
        ]}
      />
      {mayResend && state !== 'queued' && <Resend id={id} />}
      <Attempts attempts={attempts} />
      {body !== null && (
        <div className="sent-body">
          <h3>Body</h3>
          <CodeBlock text={shownBody(body)} what="body" />
        </div>
      )}
    </div>
  );
}

function TimeOr({ at, otherwise }: { at: string | null; otherwise: string }) {
  return at === null ? otherwise : <Time as="local" at={at} seconds />;
}

/** JSON is indented; anything else is shown as it was sent. */
function shownBody(body: string): string {
  try {
    return visibleText(JSON.stringify(JSON.parse(body), null, 2));
  } catch {
    return visibleText(body);
  }
}

function Resend({ id }: { id: number }) {
  const resend = useAction({
    request: () => send('POST', `/deliveries/${id}/resend`),
    renews: ['destinations'],
    done: 'Queued to be sent again',
  });
  return (
    <div>
      <Button icon="again" isPending={resend.isPending} onPress={() => resend.mutate()}>
        Send again
      </Button>
      <InlineError error={resend.error} />
    </div>
  );
}
