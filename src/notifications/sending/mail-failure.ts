import type { SmtpServer } from '../../config/mail-settings.ts';
import { certificateProblem } from '../../platform/network/certificate-problem.ts';
import { cleanText, quotedWords } from '../../platform/text/clean-text.ts';
import { connectProblem } from './connect-problem.ts';
import { LIMITS, TooSlow } from './send-limits.ts';

/** Why the SMTP server did not accept a message. */
export interface MailFailure {
  /** The server's code; null = none. */
  status: number | null;
  sentence: string;
  /** The server's words, without those to a login. */
  response: string;
  /** Whether the recipient was refused for good. */
  isFinal: boolean;
}

// Its host is the operator's, and the result is shown to every account.
const SERVER = 'the SMTP server';

/** What Nodemailer throws. */
interface SmtpError {
  code: string;
  command: string;
  response: string;
  responseCode: number | null;
}

/** Explains a failure to send a message to `to`. */
export async function mailFailure(error: unknown, server: SmtpServer, to: string): Promise<MailFailure> {
  const smtp = fieldsOf(error);
  const status = smtp.responseCode;
  // A server could repeat what it was sent.
  const response = smtp.code === 'EAUTH' ? '' : cleanText(smtp.response, 300);
  const words = response === '' ? 'without a reason' : quotedWords(response, 300);
  const sentence =
    statusSentence(smtp, words, to) ?? (await brokenSentence(error, smtp, server)) ?? unknownSentence(smtp);
  const isFinal = smtp.command.startsWith('RCPT') && status !== null && status >= 500;
  return { status, sentence: sentence.replace(/^the /, 'The '), response, isFinal };
}

function fieldsOf(error: unknown): SmtpError {
  const fields: object = error instanceof Error ? error : {};
  const text = (name: string) => {
    const value: unknown = Reflect.get(fields, name);
    return typeof value === 'string' ? value : '';
  };
  const code: unknown = Reflect.get(fields, 'responseCode');
  return {
    code: text('code'),
    command: text('command'),
    response: text('response'),
    responseCode: typeof code === 'number' ? code : null,
  };
}

function statusSentence(
  { code, command, responseCode }: SmtpError,
  words: string,
  to: string,
): string | null {
  if (code === 'EAUTH') return loginSentence(responseCode);
  if (code === 'ETLS' && command === 'STARTTLS') {
    return `${SERVER} does not offer STARTTLS: use smtps:// in DBVITALS_SMTP_URL, or add ?tls=none to send without encryption.`;
  }
  if (responseCode === null) return null;
  if (command.startsWith('RCPT')) {
    const forNow = responseCode < 500 ? ' for now' : '';
    return `${SERVER} refused the recipient ${cleanText(to, 254)}${forNow}: ${words}.`;
  }
  if (command.startsWith('MAIL')) return `${SERVER} refused the sender of DBVITALS_MAIL_FROM: ${words}.`;
  if (responseCode === 421) return `${SERVER} is not available for now: ${words}.`;
  if (code === 'EMESSAGE' || command === 'DATA') return `${SERVER} refused the message: ${words}.`;
  return `${SERVER} failed: ${words}.`;
}

function loginSentence(responseCode: number | null): string {
  if (responseCode === null) return `${SERVER} offers no login that fits: ask for its settings.`;
  return responseCode >= 500
    ? `${SERVER} refused the user name or password of DBVITALS_SMTP_URL (${responseCode}).`
    : `${SERVER} could not check the user name and password for now (${responseCode}).`;
}

async function brokenSentence(error: unknown, smtp: SmtpError, server: SmtpServer): Promise<string | null> {
  const { code } = smtp;
  if (code === 'EABORT') return connectProblem(new TooSlow('answer'), SERVER);
  if (code === 'ETIMEDOUT') {
    const hint =
      server.tls === 'tls' ? '' : ': if it expects TLS from the start, use smtps:// in DBVITALS_SMTP_URL';
    return `${SERVER} did not greet within ${LIMITS.connectMs / 1_000} s${hint}.`;
  }
  const place = { name: SERVER, host: server.host, port: server.port, addresses: null };
  return connectProblem(error, SERVER) ?? (await certificateProblem(error, place));
}

function unknownSentence({ code }: SmtpError): string {
  if (code === 'EPROTOCOL') return `${SERVER} did not answer in SMTP.`;
  if (code === 'ECONNECTION') return `${SERVER} closed the connection.`;
  return `The message could not be sent${code === '' ? '' : ` (${cleanText(code, 60)})`}.`;
}
