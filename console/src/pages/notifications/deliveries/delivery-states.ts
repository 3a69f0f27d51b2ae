import type { Status } from '../../../parts/status-looks.tsx';

export const DELIVERY_STATES = ['queued', 'accepted', 'given_up', 'cancelled'] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** How a delivery's state looks. */
export const STATE_LOOKS: Record<DeliveryState, { status: Status; word: string }> = {
  queued: { status: 'open', word: 'Queued' },
  accepted: { status: 'ok', word: 'Accepted' },
  given_up: { status: 'error', word: 'Given up' },
  cancelled: { status: 'revoked', word: 'Cancelled' },
};
