import { version } from '../../platform/package-root.ts';
import type { OutgoingHttp } from '../sending/outgoing.ts';
import type { DestinationSecrets, Envelope, OpenDestination } from './channel.ts';

/** How dbvitals names itself to receivers. */
const USER_AGENT = `dbvitals/${version}`;

interface Post {
  url: string;
  body: string;
  contentType: string;
  headers?: Readonly<Record<string, string>>;
}

/** A POST to a destination. An `authorization` among its secrets is sent as the header that it names, and not kept. */
export function post(secrets: DestinationSecrets, { url, body, contentType, headers }: Post): OutgoingHttp {
  const [name, value] = readAuthorization(secrets.authorization ?? '');
  return {
    protocol: 'http',
    method: 'POST',
    url,
    headers: {
      'content-type': contentType,
      'user-agent': USER_AGENT,
      ...headers,
      ...(value !== '' && { [name]: value }),
    },
    body,
    secretHeaders: [name],
  };
}

/**
 * The header of an authorization, in lower case: `authorization` and the value that was entered, or the header of a whole line such
 * as `DD-API-KEY: xxxx`.
 */
export function readAuthorization(entered: string): readonly [name: string, value: string] {
  const [, name, value] = /^([A-Za-z][A-Za-z0-9-]{0,62}): (\S.*)$/.exec(entered) ?? [];
  return name === undefined || value === undefined ? ['authorization', entered] : [name.toLowerCase(), value];
}

/** Posts a made message, as it is, to the destination's URL. */
export function postMessage(destination: OpenDestination, { body, contentType }: Envelope): OutgoingHttp {
  return post(destination.secrets, { url: urlOf(destination), body, contentType });
}

/** The URL among the secrets of a destination. Throws if it has none. */
export function urlOf({ name, secrets }: OpenDestination): string {
  if (secrets.url === undefined) throw new Error(`Destination “${name}” has no URL.`);
  return secrets.url;
}
