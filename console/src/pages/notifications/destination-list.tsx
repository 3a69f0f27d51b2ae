import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Destination } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { actionsColumn } from '../../parts/actions-column.tsx';
import { figure } from '../../parts/figure.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { ChannelIcon } from './channel-icon.tsx';
import { CHANNEL_TEXTS } from './channel-texts.ts';
import { actionsOf, type DestinationAction } from './destination-actions.ts';
import { DestinationState } from './destination-state.tsx';

interface DestinationListProps {
  destinations: readonly Destination[];
  /** Null for members who may only read. */
  act: DestinationAction | null;
}

/** The account's destinations with their health. */
export function DestinationList({ destinations, act }: DestinationListProps) {
  const columns = useMemo(() => columnsFor(act), [act]);
  return (
    <div className="destination-list">
      <Table
        columns={columns}
        hasKeyboardNavigation
        label="Destinations"
        rowHeight={64}
        rowKey={({ id }) => id}
        rows={destinations}
      />
    </div>
  );
}

function columnsFor(act: DestinationAction | null): Column<Destination>[] {
  return [
    {
      header: 'Destination',
      width: 'minmax(11rem, 2.4fr)',
      narrow: 'lead',
      cell: ({ id, name, channel, target }) => (
        <div className="destination-name">
          <ChannelIcon channel={channel} />
          <div>
            <Link
              className="row-link two-lines"
              params={{ id: String(id) }}
              search={{}}
              to="/notifications/$id"
            >
              <bdi>{name}</bdi>
            </Link>
            <div className="small quiet two-lines">
              {CHANNEL_TEXTS[channel].name} · <bdi>{target}</bdi>
            </div>
          </div>
        </div>
      ),
    },
    {
      header: 'State',
      width: 'minmax(10rem, 2fr)',
      cell: (destination) => <DestinationState destination={destination} />,
    },
    {
      header: 'Queued',
      width: 'minmax(5rem, 6.5rem)',
      align: 'end',
      cell: ({ queue: { queued, dropped } }) => (
        <>
          {figure(queued)}
          {dropped > 0 && <div className="small destination-dropped">{figure(dropped)} dropped</div>}
        </>
      ),
    },
    {
      header: 'Last success',
      width: 'minmax(6.5rem, 8rem)',
      cell: ({ queue: { last_success_at } }) =>
        last_success_at === null ? <span className="quiet">never</span> : <Time at={last_success_at} />,
    },
    actionsColumn(
      ({ name }) => name,
      (destination) => (act ? actionsOf(destination, act) : []),
    ),
  ];
}
