import type { ChannelFormat, MakeBatch } from '../channel.ts';
import { post, urlOf } from '../http-request.ts';
import { signatures } from '../sign.ts';
import { batchHeaders, testMessage } from './log-batch.ts';

/** One JSON object per line, or one array. */
const makeBatch: MakeBatch = ({ lines }, settings) => {
  const entries = lines.map(({ json }) => json);
  if (settings['shape'] === 'array')
    return { contentType: 'application/json', body: `[${entries.join(',')}]` };
  return { contentType: 'application/x-ndjson', body: entries.map((json) => `${json}\n`).join('') };
};

/** A log stream over HTTP, signed as Standard Webhooks asks. An `Authorization` header may be added. */
export const logHttp: ChannelFormat = {
  makeMessage: testMessage(makeBatch),
  makeBatch,
  mostEvents: 1,
  request(destination, { eventId, at, body, contentType, batch }) {
    return post(destination.secrets, {
      url: urlOf(destination),
      body,
      contentType,
      headers: {
        'webhook-id': eventId,
        'webhook-timestamp': String(at),
        'webhook-signature': signatures({ id: eventId, at, body }, destination.secrets.signing ?? []),
        ...batchHeaders(batch),
      },
    });
  },
};
