import { readSettingFile } from './text-file.ts';

/** The SMTP server of `DBVITALS_SMTP_URL`. */
export interface SmtpServer {
  /** An IPv6 address has no brackets. */
  host: string;
  port: number;
  /** `tls`: from the start. `starttls`: required. `if-offered`: STARTTLS if the server offers it. `none`: never. */
  tls: 'tls' | 'starttls' | 'if-offered' | 'none';
  /** Null = the server requires no login. The password is a secret. */
  login: { user: string; password: string } | null;
}

const HOW =
  'smtp://user:password@host:587 or smtps://user:password@host:465, with special characters of user and password percent-encoded';

/**
 * Parses `smtp://user:password@host:587` (STARTTLS, which only a server on this machine may lack; `?tls=none` turns TLS off) or
 * `smtps://user:password@host:465`. Throws a sentence without the text.
 */
export function parseSmtpUrl(text: string, name = 'DBVITALS_SMTP_URL'): SmtpServer {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isTls = url?.protocol === 'smtps:';
  const [user, password] = [decoded(url?.username), decoded(url?.password)];
  if (
    url === null ||
    user === null ||
    password === null ||
    (!isTls && url.protocol !== 'smtp:') ||
    !/^(?:[\w.-]+|\[[0-9a-f:.]+\])$/i.test(url.hostname) ||
    !/^\/?$/.test(url.pathname) ||
    !(url.search === '' || (url.search === '?tls=none' && !isTls)) ||
    url.hash !== ''
  ) {
    throw new Error(`${name} must be ${HOW}.`);
  }
  if ((user === '') !== (password === ''))
    throw new Error(`${name} must have a user and a password, or neither.`);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const optional = url.search === '?tls=none' ? 'none' : isLoopback(host) ? 'if-offered' : 'starttls';
  return {
    host,
    port: Number(url.port || (isTls ? 465 : 587)),
    tls: isTls ? 'tls' : optional,
    login: user === '' ? null : { user, password },
  };
}

function isLoopback(host: string): boolean {
  return /^(?:localhost\.?|127(?:\.[0-9]{1,3}){3}|::1)$/i.test(host);
}

function decoded(text: string | undefined): string | null {
  try {
    const plain = decodeURIComponent(text ?? '');
    return /\p{Cc}/u.test(plain) ? null : plain;
  } catch {
    return null;
  }
}

// An address, or a name and an address: dbvitals <dbvitals@example.com>.
const ADDRESS = /^[^\s@<>"(),:;[\\\]]{1,64}@[\w.-]{1,255}$/;
const NAMED = /^([^\p{Cc}<>"@,;:]{1,100}) <([^<>]+)>$/u;

/** Whether the text is one plain e-mail address. */
export function isMailAddress(text: string): boolean {
  return ADDRESS.test(text);
}

function parseMailFrom(text: string): string {
  if (ADDRESS.test(NAMED.exec(text)?.[2] ?? text)) return text;
  throw new Error(
    'DBVITALS_MAIL_FROM must be an e-mail address, such as dbvitals@example.com or dbvitals <dbvitals@example.com>.',
  );
}

/** Reads one setting with `parse`; `absent` if it is unset. An error that `parse` throws becomes a problem. */
type Setting = <T, A>(name: string, absent: A, parse: (text: string) => T) => T | A;

/** The settings of e-mail. */
export interface MailSettings {
  /** The URL of the SMTP server; null = no e-mail. Contains a password. */
  readonly smtpUrl: string | null;
  /** The sender's address; null if there is no server. */
  readonly mailFrom: string | null;
}

/** Reads the settings of e-mail. `problem` gets a sentence for each mistake that is not of one setting, without a secret. */
export function readMail(setting: Setting, problem: (sentence: string) => void): MailSettings {
  const [inline, file, from] = ['DBVITALS_SMTP_URL', 'DBVITALS_SMTP_URL_FILE', 'DBVITALS_MAIL_FROM'] as const;
  const isSet = (name: string) => setting(name, false, () => true);
  if (isSet(inline) && isSet(file)) problem(`Set ${inline} or ${file}, not both.`);
  const smtpUrl =
    setting(inline, null, (text) => checked(text, inline)) ?? setting(file, null, readSmtpUrlFile);
  const given = setting(from, null, parseMailFrom);
  if (isSet(from) && !isSet(inline) && !isSet(file)) problem(`${from} also needs ${inline} or ${file}.`);
  if (smtpUrl === null) return { smtpUrl, mailFrom: null };
  const user = parseSmtpUrl(smtpUrl).login?.user ?? '';
  const mailFrom = given ?? (ADDRESS.test(user) ? user : null);
  if (mailFrom === null && !isSet(from)) {
    problem(`${inline} also needs ${from}: the sender's address, such as dbvitals@example.com.`);
  }
  return { smtpUrl, mailFrom };
}

function checked(text: string, name: string): string {
  parseSmtpUrl(text, name);
  return text;
}

function readSmtpUrlFile(path: string): string {
  const name = 'DBVITALS_SMTP_URL_FILE';
  return checked(readSettingFile(name, path), name);
}
