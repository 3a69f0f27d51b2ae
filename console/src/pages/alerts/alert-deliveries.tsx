import { Link } from '@tanstack/react-router';
import type { AlertDelivery } from '../../../../src/console-api/alerts/alert-schemas.ts';
import { Time } from '../../parts/time.tsx';

const KINDS: Partial<Record<AlertDelivery['kind'], string>> = {
  'alert.triggered': 'Alert',
  'alert.resolved': 'Resolved',
};

const STATES: Record<AlertDelivery['state'], string> = {
  queued: 'is queued',
  accepted: 'accepted',
  given_up: 'was not delivered',
  cancelled: 'was not sent',
};

/** How the events of an alert reached their destinations, newest first. */
export function AlertDeliveries({ deliveries }: { deliveries: readonly AlertDelivery[] }) {
  return (
    <div>
      <h3>Deliveries</h3>
      {deliveries.length === 0 ? (
        <p className="quiet">
          Nothing was sent about this alert. <Link to="/notifications">Destinations</Link> decide what is
          sent.
        </p>
      ) : (
        <ol className="alert-deliveries">
          {deliveries.map((delivery) => (
            <li className={`delivery-${delivery.state}`} key={delivery.id}>
              <span>
                {KINDS[delivery.kind] ?? delivery.kind} to{' '}
                <Link
                  params={{ id: String(delivery.destination_id) }}
                  search={{ delivery: String(delivery.id) }}
                  to="/notifications/$id"
                >
                  <bdi>{delivery.destination_name}</bdi>
                </Link>{' '}
                {STATES[delivery.state]}
                {delivery.result !== null && (
                  <span className="quiet">
                    {' '}
                    (<bdi>{delivery.result}</bdi>)
                  </span>
                )}
              </span>
              <Time as="full" at={delivery.ended_at ?? delivery.queued_at} />
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
