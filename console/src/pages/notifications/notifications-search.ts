import { CHANNELS, type Channel } from '../../../../src/vocabulary/channels.ts';
import { EVENT_KINDS, type EventKind } from '../../../../src/vocabulary/event-kinds.ts';
import { DELIVERY_STATES, type DeliveryState } from './deliveries/delivery-states.ts';

/** The list's search parameters. */
export interface NotificationsSearch {
  /** The form for a new destination is open: of this channel, or the choice of a channel. */
  add?: Channel | 'channel' | undefined;
}

/** Parses an untrusted URL. */
export function notificationsSearch(given: Record<string, string>): NotificationsSearch {
  const add = [...CHANNELS, 'channel' as const].find((word) => word === given['add']);
  return add ? { add } : {};
}

/** A destination's search parameters: the filters of its deliveries, and the open one. */
export interface DestinationSearch {
  state?: DeliveryState | undefined;
  kind?: EventKind | undefined;
  delivery?: string | undefined;
}

/** Parses an untrusted URL. */
export function destinationSearch(given: Record<string, string>): DestinationSearch {
  const { delivery } = given;
  const state = DELIVERY_STATES.find((word) => word === given['state']);
  const kind = EVENT_KINDS.find((word) => word === given['kind']);
  return {
    ...(state && { state }),
    ...(kind && { kind }),
    ...(delivery && /^[1-9]\d{0,15}$/.test(delivery) && { delivery }),
  };
}
