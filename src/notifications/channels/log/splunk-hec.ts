import { createHash } from 'node:crypto';
import type { ChannelFormat, MakeBatch, OpenDestination } from '../channel.ts';
import { post, urlOf } from '../http-request.ts';
import { batchHeaders, testMessage } from './log-batch.ts';

/** Where Splunk's HTTP Event Collector takes events, unless the URL has a path. */
const EVENTS = '/services/collector/event';
const ACKNOWLEDGEMENTS = '/services/collector/ack';

// https://docs.splunk.com/Documentation/Splunk/latest/Data/FormateventsforHTTPEventCollector: objects one after another.
const makeBatch: MakeBatch = ({ accountId, firstId, lastId, epoch, seal, lines }) => ({
  contentType: 'application/json',
  body: lines
    .map(({ at, id, json }) => {
      const fields = JSON.stringify({
        entry_id: id,
        account: accountId,
        first_id: firstId,
        last_id: lastId,
        epoch,
        ...(seal && { seal }),
      });
      return `{"time":${(Date.parse(at) / 1_000).toFixed(3)},"host":"dbvitals","source":"dbvitals","sourcetype":"dbvitals:activity","event":${json},"fields":${fields}}\n`;
    })
    .join(''),
});

/** Splunk's HTTP Event Collector. The channel makes it acknowledge that a batch was indexed, if its token is set up so. */
export const splunkHec: ChannelFormat = {
  makeMessage: testMessage(makeBatch),
  makeBatch,
  mostEvents: 1,
  request(destination, { body, contentType, batch }) {
    const headers = { ...batchHeaders(batch), 'x-splunk-request-channel': channelOf(destination) };
    return post(withToken(destination), {
      url: collectorUrl(destination, EVENTS),
      body,
      contentType,
      headers,
    });
  },
  // A sign-in page or a proxy answers 200 too; the batch would be lost.
  judge(sent) {
    if (!sent.accepted || numberIn(sent.response, 'code') === 0) return sent;
    return {
      ...sent,
      accepted: false,
      result: `${sent.result}, but this is no answer of an HTTP Event Collector`,
    };
  },
  confirmation(destination, response) {
    const id = numberIn(response, 'ackId');
    if (id === null) return null;
    const channel = channelOf(destination);
    return {
      request: post(withToken(destination), {
        url: `${collectorUrl(destination, ACKNOWLEDGEMENTS)}?channel=${channel}`,
        body: JSON.stringify({ acks: [id] }),
        contentType: 'application/json',
        headers: { 'x-splunk-request-channel': channel },
      }),
      isConfirmed: (answer) => answer.includes(`"${id}":true`) || answer.includes(`"${id}": true`),
    };
  },
};

function collectorUrl(destination: OpenDestination, path: string): string {
  const url = new URL(urlOf(destination));
  url.pathname = `${url.pathname.replace(/\/(?:services\/collector(?:\/event)?)?\/?$/, '')}${path}`;
  url.search = '';
  return url.href;
}

/** Splunk takes `Authorization: Splunk TOKEN`; people paste the token. */
function withToken({ secrets }: OpenDestination): OpenDestination['secrets'] {
  const { authorization = '' } = secrets;
  return {
    ...secrets,
    authorization: /^splunk /i.test(authorization) ? authorization : `Splunk ${authorization}`,
  };
}

/** A GUID of the destination's own, the same on each request. */
function channelOf({ accountId, destinationId }: OpenDestination): string {
  const hex = createHash('sha256').update(`dbvitals log stream ${accountId} ${destinationId}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A number in the JSON of an answer; null = there is none. */
function numberIn(response: string, name: string): number | null {
  try {
    const value: unknown = (JSON.parse(response) as Record<string, unknown>)[name];
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
  } catch {
    return null;
  }
}
