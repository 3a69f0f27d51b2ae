import type { ChannelFormat } from './channel.ts';
import { post, urlOf } from './http-request.ts';

/**
 * A URL that is asked every minute while the monitor works, so that its silence pages somebody. The request is empty:
 * GET, or POST if the destination's settings have `"method": "POST"`.
 */
export const heartbeat: ChannelFormat = {
  makeMessage: () => ({ contentType: 'text/plain', body: '' }),
  mostEvents: 1,
  request(destination) {
    const asked = post(destination.secrets, {
      url: urlOf(destination),
      body: '',
      contentType: 'text/plain',
    });
    return destination.settings.method === 'POST' ? asked : { ...asked, method: 'GET' };
  },
};
