import type { ChannelFormat, MakeBatch } from '../channel.ts';
import { post, urlOf } from '../http-request.ts';
import { batchHeaders, testMessage } from './log-batch.ts';

// https://opentelemetry.io/docs/specs/otel/logs/data-model/: SeverityNumber.
const SEVERITIES = { info: [9, 'INFO'], low: [10, 'INFO2'], medium: [13, 'WARN'] } as const;

const text = (key: string, value: string) => ({ key, value: { stringValue: value } });
const integer = (key: string, value: number) => ({ key, value: { intValue: String(value) } });

const makeBatch: MakeBatch = ({ accountId, firstId, lastId, epoch, seal, lines }) => {
  const resource = {
    attributes: [
      text('service.name', 'dbvitals'),
      integer('dbvitals.account', accountId),
      integer('dbvitals.first_id', firstId),
      integer('dbvitals.last_id', lastId),
      text('dbvitals.epoch', epoch),
      ...(seal === null ? [] : [text('dbvitals.seal', seal)]),
    ],
  };
  const logRecords = lines.map(({ id, at, actionType, severity, json }) => ({
    timeUnixNano: `${Date.parse(at)}000000`,
    severityNumber: SEVERITIES[severity][0],
    severityText: SEVERITIES[severity][1],
    body: { stringValue: json },
    attributes: [text('event.name', actionType), integer('dbvitals.entry_id', id)],
  }));
  const scopeLogs = [{ scope: { name: 'dbvitals.activity' }, logRecords }];
  return {
    contentType: 'application/json',
    body: JSON.stringify({ resourceLogs: [{ resource, scopeLogs }] }),
  };
};

/** OTLP over HTTP with JSON: log records of a collector's `/v1/logs`. */
export const otlpLogs: ChannelFormat = {
  makeMessage: testMessage(makeBatch),
  makeBatch,
  mostEvents: 1,
  request(destination, { body, contentType, batch }) {
    return post(destination.secrets, {
      url: urlOf(destination),
      body,
      contentType,
      headers: batchHeaders(batch),
    });
  },
  judge(sent) {
    // A sign-in page or a proxy answers 200 too; the batch would be lost.
    if (sent.accepted && sent.response !== '' && !sent.response.startsWith('{'))
      return { ...sent, accepted: false, result: `${sent.result}, but this is no answer of a collector` };
    const rejected = /"rejectedLogRecords"\s*:\s*"?([1-9][0-9]*)/.exec(sent.response)?.[1];
    if (!sent.accepted || rejected === undefined) return sent;
    return { ...sent, accepted: false, result: `The collector rejected ${rejected} log records.` };
  },
};
