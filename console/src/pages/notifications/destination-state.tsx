import type { Destination } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { StatusMark } from '../../parts/status-mark.tsx';
import { healthOf } from './health-text.ts';

/** How a destination is doing, as a mark with its cause. */
export function DestinationState({ destination }: { destination: Destination }) {
  const { status, word, detail } = healthOf(destination);
  return (
    <div className="destination-state">
      <StatusMark quiet status={status} word={word} />
      {detail !== null && (
        <div className="small quiet destination-cause">
          <bdi>{detail}</bdi>
        </div>
      )}
    </div>
  );
}
