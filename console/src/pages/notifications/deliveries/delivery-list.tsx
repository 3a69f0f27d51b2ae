import { Link } from '@tanstack/react-router';
import { figure } from '../../../parts/figure.ts';
import { KIND_TEXTS } from '../../../parts/kind-texts.ts';
import { Named } from '../../../parts/named.tsx';
import { StatusMark } from '../../../parts/status-mark.tsx';
import { type Column, Table } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import type { Delivery } from './delivery-queries.ts';
import { STATE_LOOKS } from './delivery-states.ts';

interface DeliveryListProps {
  deliveries: readonly Delivery[];
  isBeside: boolean;
}

/** A destination's deliveries. Beside an open one there is room for fewer columns. */
export function DeliveryList({ deliveries, isBeside }: DeliveryListProps) {
  return (
    <Table
      columns={isBeside ? BESIDE : COLUMNS}
      hasKeyboardNavigation
      label="Deliveries"
      rowHeight={58}
      rowKey={({ id }) => id}
      rows={deliveries}
    />
  );
}

const COLUMNS: Column<Delivery>[] = [
  {
    header: 'Event',
    width: 'minmax(10rem, 3fr)',
    narrow: 'lead',
    cell: ({ id, kind, title, connection_name }) => (
      <>
        <Link
          className="row-link"
          from="/notifications/$id"
          id={`delivery-${id}`}
          resetScroll={false}
          search={(old) => ({ ...old, delivery: String(id) })}
          to="/notifications/$id"
        >
          <bdi>{visibleText(title)}</bdi>
        </Link>
        <div className="small quiet two-lines">
          <DeliverySubject connection_name={connection_name} kind={kind} />
        </div>
      </>
    ),
  },
  {
    header: 'State',
    width: 'minmax(8.5rem, 2fr)',
    cell: ({ state, attempts, result, reason }) => (
      <>
        <DeliveryMark attempts={attempts} state={state} />
        <div className="small quiet two-lines">
          <bdi>{visibleText(reason ?? result ?? '')}</bdi>
        </div>
      </>
    ),
  },
  {
    header: 'Attempts',
    width: '5rem',
    align: 'end',
    cell: ({ attempts }) => attempts,
  },
  {
    header: 'Sequence',
    width: '5.5rem',
    align: 'end',
    cell: ({ sequence }) => <span className="mono">{figure(sequence)}</span>,
  },
  {
    header: 'Queued',
    width: 'minmax(11.5rem, 12.75rem)',
    cell: ({ queued_at }) => <Time as="local" at={queued_at} seconds />,
  },
];

const BESIDE = COLUMNS.filter(({ header }) => header === 'Event' || header === 'State');

/** The kind of a delivery's event, and its connection. */
export function DeliverySubject({ kind, connection_name }: Pick<Delivery, 'kind' | 'connection_name'>) {
  return (
    <>
      {KIND_TEXTS[kind].name}
      <Named mono={false} name={connection_name && visibleText(connection_name)} words=" · " />
    </>
  );
}

/** A delivery's state; one that waits after a failed attempt is being retried. */
export function DeliveryMark({ state, attempts }: Pick<Delivery, 'state' | 'attempts'>) {
  if (state === 'queued' && attempts > 0) return <StatusMark quiet status="warning" word="Retrying" />;
  return <StatusMark quiet status={STATE_LOOKS[state].status} word={STATE_LOOKS[state].word} />;
}
