import type { ChannelFormat, LogBatch, LogLine, MakeBatch } from '../channel.ts';
import { urlOf } from '../http-request.ts';
import { testMessage } from './log-batch.ts';

// RFC 5424: facility 13, log audit; severity 4 warning, 5 notice, 6 informational.
const FACILITY = 13;
const SEVERITIES = { info: 6, low: 5, medium: 4 };

/** The private enterprise number that RFC 5612 keeps for documentation: dbvitals has none of its own. */
const SD_ID = 'dbvitals@32473';

/** RFC 5425, RFC 6587: each message after its length in bytes. */
const makeBatch: MakeBatch = (batch) => ({
  contentType: 'application/octet-stream',
  body: batch.lines
    .map((line) => {
      const message = toMessage(line, batch);
      return `${Buffer.byteLength(message)} ${message}`;
    })
    .join(''),
});

function toMessage({ id, at, actionType, severity, json }: LogLine, batch: LogBatch): string {
  const { accountId, firstId, lastId, epoch, seal } = batch;
  const priority = FACILITY * 8 + SEVERITIES[severity];
  const data = [
    `account="${accountId}"`,
    `id="${id}"`,
    `first="${firstId}"`,
    `last="${lastId}"`,
    `epoch="${epoch}"`,
    ...(seal === null ? [] : [`seal="${seal}"`]),
  ];
  // A MSGID has at most 32 printable ASCII characters. Action types are words of our own.
  const messageId = actionType.replace(/[^\x21-\x7e]/g, '_').slice(0, 32) || '-';
  return `<${priority}>1 ${at} dbvitals dbvitals - ${messageId} [${SD_ID} ${data.join(' ')}] ${json}`;
}

/** Syslog over TLS, or over TCP to private receivers. */
export const syslog: ChannelFormat = {
  makeMessage: testMessage(makeBatch),
  makeBatch,
  mostEvents: 1,
  request(destination, { body }) {
    return { protocol: 'syslog', url: urlOf(destination), body };
  },
};
