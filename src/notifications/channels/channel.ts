import type { EntrySeverity } from '../../activity/formats/entry-severity.ts';
import type { Channel } from '../../vocabulary/channels.ts';
import type { StoredEvent } from '../event.ts';
import type { OutgoingHttp, OutgoingRequest, SendResult } from '../sending/outgoing.ts';

/** The decrypted secrets of a destination. */
export interface DestinationSecrets {
  /** Where it is sent. Slack's and the like are secret as a whole. Absent for email. */
  url?: string;
  /** Signing secrets of a webhook, the newest first. The second signs too, until it expires. */
  signing?: readonly SigningSecret[];
  /** PagerDuty's integration key. */
  routingKey?: string;
  /** The value of an `Authorization` header, or a whole line such as `DD-API-KEY: xxxx`; of s3 ACCESS_KEY_ID:SECRET_ACCESS_KEY, of sentinel TENANT_ID:CLIENT_ID:CLIENT_SECRET. */
  authorization?: string;
}

/** `whsec_` and base64 (HMAC-SHA256), or `whsk_` and base64 (Ed25519). */
export interface SigningSecret {
  secret: string;
  /** RFC 3339; null = no end. */
  until: string | null;
}

/** A destination with its secrets, as its channel needs it. */
export interface OpenDestination {
  accountId: number;
  destinationId: number;
  name: string;
  channel: Channel;
  settings: Readonly<Record<string, unknown>>;
  secrets: DestinationSecrets;
  /** The token of an attempt, if the channel wants one. */
  token?: string;
  /** The confirmed recipients of e-mail, with the token for the links of each. */
  recipients: readonly { email: string; token: string }[];
}

/** An event in a message, with what changed on its connection in the 24 hours before, newest first. */
export interface MessageEvent extends StoredEvent {
  changes: readonly string[];
}

/** What is common to all messages of a service. */
export interface MessageContext {
  /** The console's URL without a slash at the end, such as `https://dbvitals.example.com`. */
  consoleUrl: string;
  /** The name of the account. */
  account: string;
}

/** A body that was made once and is sent on every attempt. */
export interface MadeMessage {
  contentType: string;
  body: string;
}

/** What is sent now: a made message, or the body of one event of a webhook. */
export interface Envelope extends MadeMessage {
  /** The event's id; of several, the first one's. */
  eventId: string;
  epoch: string;
  sequence: number;
  /** Unix time of the attempt, in seconds. */
  at: number;
  /** What a log stream sends; absent = a test. */
  batch?: LogBatch;
}

/** An entry of the log in the format of its stream. */
export interface LogLine {
  id: number;
  /** RFC 3339 with milliseconds. */
  at: string;
  actionType: string;
  severity: EntrySeverity;
  /** JSON in one line. */
  json: string;
}

/** Entries of an account's log, in order. Ids have no gaps, so ranges that adjoin prove that nothing is missing. */
export interface LogBatch {
  accountId: number;
  /** The range that the batch covers. The stream's filter may leave entries of it out. */
  firstId: number;
  lastId: number;
  /** Another one after a restore: ids may be used again. */
  epoch: string;
  /** Number and SHA-256 of the seal that covers the range, such as `12:9f86…`; null = none does yet. */
  seal: string | null;
  lines: readonly LogLine[];
}

/** Forms the body of a batch. */
export type MakeBatch = (batch: LogBatch, settings: Readonly<Record<string, unknown>>) => MadeMessage;

/** How to ask a receiver whether it has stored what it accepted. */
interface Confirmation {
  request: OutgoingHttp;
  isConfirmed(response: string): boolean;
}

/** A token and for how many seconds it holds, or why there is none. */
export type TokenAnswer = { token: string; seconds: number } | { problem: string };

/** How a channel forms messages and requests. */
export interface ChannelFormat {
  /** The events in one message; null for a webhook, which sends each event's own body. */
  makeMessage: ((events: readonly MessageEvent[], context: MessageContext) => MadeMessage) | null;
  /** The most events in a message. */
  mostEvents: number;
  /** The request of one attempt. Its headers without secrets are kept with the attempt. */
  request(destination: OpenDestination, envelope: Envelope): OutgoingRequest | Promise<OutgoingRequest>;
  /** How to get the token that requests carry, if the receiver takes no lasting secret. */
  token?(destination: OpenDestination): {
    request: OutgoingHttp;
    read(response: string): TokenAnswer;
  };
  /** Of a log stream. */
  makeBatch?: MakeBatch;
  /** What an answer means, if its status does not say it. */
  judge?(sent: SendResult): SendResult;
  /** How to ask whether an accepted batch is stored; null = acceptance is all that the receiver says. */
  confirmation?(destination: OpenDestination, response: string): Confirmation | null;
}
