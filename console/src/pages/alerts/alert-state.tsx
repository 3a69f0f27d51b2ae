import type { Alert } from '../../../../src/console-api/alerts/alert-schemas.ts';
import { Icon } from '../../parts/icons.tsx';
import { clockTime, useNow } from '../../parts/time.tsx';
import { isAcknowledged } from './alert-text.ts';

const HELD = {
  maintenance: 'In maintenance, sends nothing',
  unreachable: 'Muted: the server is unreachable',
} as const;

/** Who takes care of an alert, what holds it back, or why it was resolved. */
export function AlertState({ alert: { acknowledged, held, resolution, state } }: { alert: Alert }) {
  const now = useNow();
  if (state === 'resolved')
    return <span className="alert-state small quiet">{resolution ?? 'resolved'}</span>;
  return (
    <span className="alert-state small">
      {acknowledged !== null && isAcknowledged(acknowledged, now) && (
        <span>
          <Icon name="check" size={14} /> <bdi>{acknowledged.by}</bdi>
          {acknowledged.until === null ? '' : ` until ${clockTime(Date.parse(acknowledged.until))}`}
          {acknowledged.note !== '' && (
            <span className="quiet">
              {' '}
              <bdi>{acknowledged.note}</bdi>
            </span>
          )}
        </span>
      )}
      {held !== null && (
        <span className="quiet">
          <Icon name="silent" size={14} /> {HELD[held]}
        </span>
      )}
      {held === null && !isAcknowledged(acknowledged, now) && <span>Not acknowledged</span>}
    </span>
  );
}
