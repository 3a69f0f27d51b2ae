import { setMaxListeners } from 'node:events';
import { connect, type Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { isMailAddress, parseSmtpUrl, type SmtpServer } from '../../config/mail-settings.ts';
import { cleanText } from '../../platform/text/clean-text.ts';
import { failedAttempt } from './failed-attempt.ts';
import { type MailFailure, mailFailure } from './mail-failure.ts';
import type { MailMessage, OutgoingMail, SendResult } from './outgoing.ts';
import { keptText } from './read-answer.ts';
import { LIMITS, TooSlow } from './send-limits.ts';

// Enough for the 20 recipients of a destination within its 15 s, and few for the server.
const CONNECTIONS = 5;
// Of messages of which another recipient's copy failed: so that the next attempt sends only that.
const REMEMBERED = 10_000;

/** Sends e-mail. Each job has connections of its own. */
export interface Mailer {
  /** Never throws. */
  send(job: OutgoingMail): Promise<SendResult>;
}

/** A mailer for a server and a sender; null = e-mail is not set up. */
export function openMailer(smtpUrl: string | null, from: string | null): Mailer | null {
  if (smtpUrl === null || from === null) return null;
  const server = parseSmtpUrl(smtpUrl);
  const accepted = new LRUCache<string, true>({ max: REMEMBERED });
  return { send: (job) => sendMail(job, server, from, accepted) };
}

/** How a message ended. `isEarlier`: a former attempt was accepted. */
type Ended = { to: string; response: string; isEarlier: boolean } | ({ to: string } & MailFailure);

async function sendMail(
  { messages }: OutgoingMail,
  server: SmtpServer,
  from: string,
  accepted: LRUCache<string, true>,
): Promise<SendResult> {
  const began = performance.now();
  if (messages.length === 0) return failedAttempt('No recipient has confirmed.', began);
  const transport = createTransport(transportOptions(server));
  const signal = AbortSignal.timeout(LIMITS.wholeMs);
  setMaxListeners(0, signal);
  const one = async (message: MailMessage): Promise<Ended> => {
    const { to } = message;
    if (!isMailAddress(to)) {
      const sentence = `The recipient ${oneLine(to).slice(0, 254)} is not an e-mail address.`;
      return { to, status: null, sentence, response: '', isFinal: true };
    }
    if (accepted.has(keyOf(message))) return { to, response: '', isEarlier: true };
    try {
      const { response } = await transport.sendMail({ ...mailOf(message, from), signal });
      return { to, response: oneLine(response), isEarlier: false };
    } catch (error) {
      return { to, ...(await mailFailure(error, server, to)) };
    }
  };
  try {
    const ended = await Promise.all(messages.map(one));
    const result = resultOf(ended, began);
    for (const [place, message] of messages.entries()) {
      if (result.accepted) accepted.delete(keyOf(message));
      else if ('isEarlier' in (ended[place] ?? {})) accepted.set(keyOf(message), true);
    }
    return result;
  } finally {
    transport.close({ force: true });
  }
}

function transportOptions(server: SmtpServer) {
  const { host, port, tls, login } = server;
  return {
    host,
    port,
    pool: true as const,
    maxConnections: CONNECTIONS,
    maxRequeues: 0,
    secure: tls === 'tls',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(login !== null && { auth: { user: login.user, pass: login.password } }),
    // The system's resolver, which knows /etc/hosts and search domains. Nodemailer's asks name servers only.
    getSocket: (_options: unknown, done: (error: Error | null, socket?: { connection: Socket }) => void) =>
      connectTo(server, done),
    connectionTimeout: LIMITS.connectMs,
    greetingTimeout: LIMITS.connectMs,
    socketTimeout: LIMITS.wholeMs,
    maxResponseSize: LIMITS.readBytes,
    socketCloseTimeout: 500,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
  };
}

function connectTo(
  { host, port }: SmtpServer,
  done: (error: Error | null, socket?: { connection: Socket }) => void,
): void {
  const socket = connect({ host, port });
  const timer = setTimeout(() => socket.destroy(new TooSlow('connect')), LIMITS.connectMs);
  const settle = (error: Error | null) => {
    clearTimeout(timer);
    socket.off('error', settle);
    done(error, ...(error ? [] : [{ connection: socket }]));
  };
  socket.once('error', settle).once('connect', () => settle(null));
}

// Headers that say who sends and receives the message, and how it is encoded: only this file and Nodemailer set them.
const OWN = /^(?:from|to|cc|bcc|sender|subject|mime-version|content-.*)$/i;

function mailOf({ to, subject, text, html, headers }: MailMessage, from: string): SendMailOptions {
  const allowed = Object.entries(headers).filter(([name]) => /^[\w-]+$/.test(name) && !OWN.test(name));
  const sender = /<([^<>]+)>$/.exec(from)?.[1] ?? from;
  return {
    from,
    to: { name: '', address: to },
    envelope: { from: sender, to: [to] },
    subject: oneLine(subject),
    text,
    html,
    headers: Object.fromEntries(allowed.map(([name, value]) => [name, oneLine(value)])),
  };
}

const oneLine = (text: string) => cleanText(text, 2_000);

const keyOf = ({ to, headers }: MailMessage) => `${headers['Message-ID'] ?? ''}\n${to}`;

// A recipient who is refused for good stops nothing: another attempt would only repeat the message to the others.
function resultOf(ended: readonly Ended[], began: number): SendResult {
  const done = ended.filter((each) => 'isEarlier' in each);
  const failed = ended.filter((each) => 'sentence' in each);
  const [first] = failed.toSorted((one, other) => Number(one.isFinal) - Number(other.isFinal));
  const count = `Accepted for ${done.length} of ${ended.length} recipients`;
  const sentences = [...new Set(failed.map(({ sentence }) => sentence))];
  const lines = [
    ...done.map(({ to, response, isEarlier }) => `${to}: ${isEarlier ? 'accepted earlier' : response}`),
    ...failed.map(({ to, response }) => `${to}: ${response}`),
  ];
  return {
    status: first?.status ?? (first === undefined ? 250 : null),
    accepted: failed.every(({ isFinal }) => isFinal) && done.length > 0,
    result:
      first === undefined
        ? `250 ${count}.`
        : cleanText([done.length > 0 ? `${count}.` : '', ...sentences].join(' '), 600),
    response: keptText(Buffer.from(lines.join(' | '))),
    milliseconds: Math.round(performance.now() - began),
    retryAfter: null,
    gone: false,
  };
}
