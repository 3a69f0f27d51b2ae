import { CHANNELS } from '../../../../src/vocabulary/channels.ts';
import { EVENT_KINDS } from '../../../../src/vocabulary/event-kinds.ts';
import { idIn, oneOf, present } from '../../parts/search-params.ts';
import { DELIVERY_STATES } from './deliveries/delivery-states.ts';

const ADDED = [...CHANNELS, 'channel'] as const;

/** Parses an untrusted URL of the list: `add` is the channel of a new destination, or `channel` to choose one. */
export function notificationsSearch(given: Record<string, string>) {
  return present({ add: oneOf(ADDED, given['add']) });
}

/** A destination's search parameters: the filters of its deliveries, and the open one. */
export type DestinationSearch = ReturnType<typeof destinationSearch>;

/** Parses an untrusted URL. */
export function destinationSearch(given: Record<string, string>) {
  return present({
    state: oneOf(DELIVERY_STATES, given['state']),
    kind: oneOf(EVENT_KINDS, given['kind']),
    delivery: idIn(given['delivery']),
  });
}
