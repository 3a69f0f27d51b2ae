import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Destination } from '../../../../../src/console-api/notifications/destination-schemas.ts';
import { type Channel, EVENTLESS_CHANNELS } from '../../../../../src/vocabulary/channels.ts';
import { EVENT_KINDS } from '../../../../../src/vocabulary/event-kinds.ts';
import { Button } from '../../../parts/button.tsx';
import { FilterChips } from '../../../parts/filter-chips.tsx';
import { FilterSelect } from '../../../parts/filter-select.tsx';
import { useFocusBack } from '../../../parts/focus-back.ts';
import { KIND_TEXTS } from '../../../parts/kind-texts.ts';
import { MoreButton } from '../../../parts/more-button.tsx';
import { Filters, Section } from '../../../parts/page.tsx';
import { Loaded, Message } from '../../../parts/states.tsx';
import type { DestinationSearch } from '../notifications-search.ts';
import { DeliveryList } from './delivery-list.tsx';
import { DeliveryPanel } from './delivery-panel.tsx';
import { deliveriesQuery } from './delivery-queries.ts';
import { DELIVERY_STATES, STATE_LOOKS } from './delivery-states.ts';
import { ResendRange } from './resend-range.tsx';

const STATES = DELIVERY_STATES.map((id) => ({ id, label: STATE_LOOKS[id].word }));
const KINDS = EVENT_KINDS.map((id) => ({ id, label: KIND_TEXTS[id].name }));

/** What was sent to a destination, newest first, and the opened delivery. */
export function Deliveries({ destination, mayWrite }: { destination: Destination; mayWrite: boolean }) {
  const { id, channel } = destination;
  const search = useSearch({ from: '/in/notifications/$id' });
  const navigate = useNavigate({ from: '/notifications/$id' });
  const [isResending, setResending] = useState(false);
  const list = useInfiniteQuery(deliveriesQuery(id, search));
  const change = (changed: DestinationSearch) =>
    void navigate({ search: (old) => ({ ...old, delivery: undefined, ...changed }), resetScroll: false });
  const focusBack = useFocusBack(search.delivery, 'delivery');
  const close = () => {
    focusBack();
    change({});
  };
  const canResend = mayWrite && !EVENTLESS_CHANNELS.includes(channel);
  return (
    <Section
      actions={
        canResend && (
          <Button icon="again" onPress={() => setResending(true)}>
            Send a range again…
          </Button>
        )
      }
      description="Kept for 30 days, with the request and the response of each attempt."
      title="Deliveries"
    >
      <Filters>
        <FilterChips
          chips={STATES}
          label="State"
          onChange={(state) => change({ state: DELIVERY_STATES.find((known) => known === state) })}
          value={search.state ?? null}
        />
        <div className="kind-filter">
          <FilterSelect
            all="All events"
            choices={KINDS}
            chosen={search.kind}
            label="Event"
            onChange={(kind) => change({ kind: EVENT_KINDS.find((known) => known === kind) })}
          />
        </div>
      </Filters>
      <div className={`deliveries list-with-panel ${search.delivery ? 'with-panel' : ''}`}>
        <div className="panel-list delivery-list">
          <Loaded query={list}>
            {({ pages }) => {
              const rows = pages.flatMap(({ items }) => items);
              if (rows.length === 0)
                return <NoDeliveries channel={channel} isFiltered={Boolean(search.state ?? search.kind)} />;
              return (
                <>
                  <DeliveryList deliveries={rows} isBeside={search.delivery !== undefined} />
                  <MoreButton list={list} />
                </>
              );
            }}
          </Loaded>
        </div>
        {search.delivery && (
          <DeliveryPanel id={search.delivery} key={search.delivery} mayResend={canResend} onClose={close} />
        )}
      </div>
      {isResending && <ResendRange destination={destination} onClose={() => setResending(false)} />}
    </Section>
  );
}

function NoDeliveries({ channel, isFiltered }: { channel: Channel; isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Message icon="search" title="No delivery matches">
        Try other filters.
      </Message>
    );
  }
  return (
    <Message icon="bell" title="Nothing sent yet">
      {EVENTLESS_CHANNELS.includes(channel)
        ? 'Tests are listed here. Pings and batches of the log are not.'
        : 'The next event that this destination wants is listed here.'}
    </Message>
  );
}
