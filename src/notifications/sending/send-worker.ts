import { failedAttempt } from './failed-attempt.ts';
import type {
  InBytes,
  OutgoingHttp,
  OutgoingMail,
  OutgoingRequest,
  OutgoingSyslog,
  SendResult,
} from './outgoing.ts';
import { Routes } from './pinned-routes.ts';
import { sendHttp } from './send-http.ts';
import { type Mailer, openMailer } from './send-mail.ts';
import { sendSyslog } from './send-syslog.ts';

/** What the process that sends needs to know. Contains the password of the SMTP server. */
export interface SendSettings {
  /** Whether receivers at private addresses are allowed. */
  allowPrivate: boolean;
  smtpUrl: string | null;
  mailFrom: string | null;
}

/** A message to the process: its settings, once, and then requests. */
export type WorkerMessage = { settings: SendSettings } | { id: number; request: OutgoingRequest };

/** A result, in the order in which they are known. */
export interface WorkerResult {
  id: number;
  result: SendResult;
}

// dbvitals handles a signal to the process group (Ctrl-C): it lets requests finish first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// Not `process.exit()`, which waits for lookups that hang.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

let settings: SendSettings = { allowPrivate: false, smtpUrl: null, mailFrom: null };
let routes = new Routes(false);
let mailer: Mailer | null = null;

// Messages come from our own program.
process.on('message', async (message: WorkerMessage) => {
  if ('settings' in message) {
    ({ settings } = message);
    routes = new Routes(settings.allowPrivate);
    mailer = openMailer(settings.smtpUrl, settings.mailFrom);
    return;
  }
  const { id, request } = message;
  const began = performance.now();
  const result = await send(keptInBytes(request)).catch(() =>
    failedAttempt('The request could not be sent.', began),
  );
  process.send?.({ id, result } satisfies WorkerResult);
});

type Sendable = InBytes<OutgoingHttp> | InBytes<OutgoingSyslog> | OutgoingMail;

/** Takes the body of a request out of the heap. */
function keptInBytes(request: OutgoingRequest): Sendable {
  if (request.protocol === 'smtp') return request;
  const { body } = request;
  request.body = ''; // what else refers to the request does not keep the text
  if (request.protocol === 'syslog') return { ...request, body: Buffer.from(body) };
  const { isBase64, ...rest } = request;
  return { ...rest, body: Buffer.from(body, isBase64 ? 'base64' : 'utf8') };
}

async function send(request: Sendable): Promise<SendResult> {
  if (request.protocol === 'http') return sendHttp(request, settings.allowPrivate, routes);
  if (request.protocol === 'syslog') return sendSyslog(request, settings.allowPrivate);
  if (mailer !== null) return mailer.send(request);
  return failedAttempt('E-mail is not set up: set DBVITALS_SMTP_URL.', performance.now());
}
