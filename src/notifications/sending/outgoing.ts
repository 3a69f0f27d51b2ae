/** A finished request, for the process that talks to the network. */
export type OutgoingRequest = OutgoingHttp | OutgoingMail | OutgoingSyslog;

export interface OutgoingHttp {
  protocol: 'http';
  method: 'POST' | 'GET' | 'PUT';
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Whether the body is base64 of the bytes to send. */
  isBase64?: true;
  /** Whether the channel reads the whole answer, up to 64 kB, and shortens it itself. */
  wholeAnswer?: true;
  /** The names of headers that are secret: they are not kept. Lower case. */
  secretHeaders: readonly string[];
}

/** A request in the process that sends. Bytes are outside its heap, however long a receiver lets them wait. */
export type InBytes<T extends { body: string }> = Omit<T, 'body'> & { body: string | Buffer };

export interface OutgoingMail {
  protocol: 'smtp';
  /** One message for each recipient, because each has its own link to unsubscribe. */
  messages: readonly MailMessage[];
}

export interface OutgoingSyslog {
  protocol: 'syslog';
  /** syslog+tls://HOST:PORT, or syslog+tcp://HOST:PORT. */
  url: string;
  /** Messages of RFC 5424, each after its length in bytes. */
  body: string;
}

export interface MailMessage {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Such as `Message-ID`, `References`, `List-Unsubscribe`. */
  headers: Readonly<Record<string, string>>;
}

/** How an attempt ended. Never thrown: a failure has a sentence. */
export interface SendResult {
  /** HTTP status or SMTP code; null = no answer. */
  status: number | null;
  accepted: boolean;
  /** In one line, such as `200 OK` or `The certificate of hooks.example.com expired on 2026-03-01.` */
  result: string;
  /** At most 4 kB of the answer, without control characters, unless the request asks for the whole. */
  response: string;
  milliseconds: number;
  /** Seconds to wait, from `Retry-After`; null = none. */
  retryAfter: number | null;
  /** The receiver is gone for good (410): no more attempts. */
  gone: boolean;
}

/** Sends a request. Refuses addresses that are not allowed, never follows a redirect, and ends after 15 s. */
export type Send = (request: OutgoingRequest) => Promise<SendResult>;
