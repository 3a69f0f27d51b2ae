import { readSettingFile } from './text-file.ts';

const PUBLIC_URL = 'DBVITALS_PUBLIC_URL';

/** The settings of single sign-on with an OpenID Connect provider. */
export interface SignOnSettings {
  /** Exactly as the provider spells it, such as `https://login.example.com/realms/main`. */
  readonly issuer: string;
  readonly clientId: string;
  /** A secret. */
  readonly clientSecret: string;
  /** The origin that browsers use for the service, such as `https://dbvitals.example.com`. */
  readonly publicUrl: string;
}

/** Reads one setting with `parse`; `absent` if it is unset. An error that `parse` throws becomes a problem. */
type Setting = <T, A>(name: string, absent: A, parse: (text: string) => T) => T | A;

/** The configured origin that browsers use for the service; null = where it listens. */
export function readPublicUrl(setting: Setting): string | null {
  return setting(PUBLIC_URL, null, parsePublicUrl);
}

/**
 * Reads the settings of single sign-on; null = none is set. `setting` reads one of them. `problem` gets a sentence for each
 * other mistake, without a secret.
 */
export function readSignOn(
  setting: Setting,
  publicUrl: string | null,
  problem: (sentence: string) => void,
): SignOnSettings | null {
  const [inline, file] = ['DBVITALS_OIDC_CLIENT_SECRET', 'DBVITALS_OIDC_CLIENT_SECRET_FILE'] as const;
  const text = (name: string) => setting(name, null, String);
  if (text(inline) !== null && text(file) !== null) problem(`Set ${inline} or ${file}, not both.`);
  const given: [name: string, isSet: boolean][] = [
    ...['DBVITALS_OIDC_ISSUER', 'DBVITALS_OIDC_CLIENT_ID', PUBLIC_URL].map((name): [string, boolean] => [
      name,
      text(name) !== null,
    ]),
    [`${inline} (or _FILE)`, (text(inline) ?? text(file)) !== null],
  ];
  // Without the others, the public URL is only for links.
  const set = given.filter(([name, isSet]) => isSet && name !== PUBLIC_URL).map(([name]) => name);
  const missing = given.filter(([, isSet]) => !isSet).map(([name]) => name);
  if (set.length === 0) return null;
  if (missing.length > 0) problem(`${set.join(', ')} also needs ${missing.join(', ')} for single sign-on.`);
  const issuer = setting('DBVITALS_OIDC_ISSUER', '', parseIssuer);
  const clientSecret = setting(inline, null, String) ?? setting(file, '', readSecret);
  return Object.freeze({
    issuer,
    clientId: text('DBVITALS_OIDC_CLIENT_ID') ?? '',
    clientSecret,
    publicUrl: publicUrl ?? '',
  });
}

function parseIssuer(text: string): string {
  if (isSafe(text) && !/[?#]/.test(text)) return text;
  throw new Error(
    'DBVITALS_OIDC_ISSUER must be the https URL of your provider, exactly as it spells it, such as https://login.example.com.',
  );
}

function parsePublicUrl(text: string): string {
  if (isSafe(text) && new URL(text).origin === text) return text;
  throw new Error(
    'DBVITALS_PUBLIC_URL must be the origin that browsers use for the service, such as https://dbvitals.example.com.',
  );
}

/** Whether the URL is https or on this machine, because credentials are sent to it. */
function isSafe(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  const isHere = /^(localhost|127\.[0-9.]+|\[::1\])$/.test(hostname);
  return !username && !password && (protocol === 'https:' || (protocol === 'http:' && isHere));
}

function readSecret(path: string): string {
  const secret = readSettingFile('DBVITALS_OIDC_CLIENT_SECRET_FILE', path);
  if (secret !== '' && !/\s/.test(secret)) return secret;
  throw new Error('DBVITALS_OIDC_CLIENT_SECRET_FILE must contain only the client secret.');
}
