import type { ChannelFormat } from './channel.ts';
import { post, urlOf } from './http-request.ts';
import { signatures } from './sign.ts';

/**
 * Standard Webhooks: the event's own body, signed. The sequence proves to the receiver that it lost nothing: it is
 * without gaps within an epoch.
 */
export const webhook: ChannelFormat = {
  makeMessage: null,
  mostEvents: 1,
  request(destination, { eventId, at, body, contentType, sequence, epoch }) {
    return post(destination.secrets, {
      url: urlOf(destination),
      body,
      contentType,
      headers: {
        'webhook-id': eventId,
        'webhook-timestamp': String(at),
        'webhook-signature': signatures({ id: eventId, at, body }, destination.secrets.signing ?? []),
        'dbvitals-sequence': String(sequence),
        'dbvitals-sequence-epoch': epoch,
      },
    });
  },
};
