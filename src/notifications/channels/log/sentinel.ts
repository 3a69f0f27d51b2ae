import type { ChannelFormat, MakeBatch, OpenDestination, TokenAnswer } from '../channel.ts';
import { post, urlOf } from '../http-request.ts';
import { batchHeaders, testMessage } from './log-batch.ts';

// https://learn.microsoft.com/azure/azure-monitor/logs/logs-ingestion-api-overview: a JSON array of objects with the columns of the data
// collection rule, by a token of Entra ID that ends after an hour.

const VERSION = '2023-01-01';

/** Where apps sign in, by the cloud of the endpoint. */
const CLOUDS = [
  { domain: 'azure.com', login: 'https://login.microsoftonline.com' },
  { domain: 'azure.us', login: 'https://login.microsoftonline.us' },
  { domain: 'azure.cn', login: 'https://login.partner.microsoftonline.cn' },
];

/** A test has the columns of an entry: what the rule does not know would become an empty row. */
const makeBatch: MakeBatch = ({ lines }) => {
  const rows = lines.map(({ id, at, actionType, json }) =>
    id === 0
      ? JSON.stringify({ id, action_type: actionType, page_path: '', properties: {}, occurred_at: at })
      : json,
  );
  return { contentType: 'application/json', body: `[${rows.join(',')}]` };
};

/** Microsoft Sentinel, by the Logs Ingestion API of Azure Monitor. */
export const sentinel: ChannelFormat = {
  makeMessage: testMessage(makeBatch),
  makeBatch,
  mostEvents: 1,
  token(destination) {
    const [tenant = '', client = '', ...secret] = (destination.secrets.authorization ?? '').split(':');
    const { login, scope } = signInOf(destination);
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client,
      client_secret: secret.join(':'),
      scope,
    });
    return {
      request: post(
        {},
        {
          url: `${login}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
          body: form.toString(),
          contentType: 'application/x-www-form-urlencoded',
        },
      ),
      read: readToken,
    };
  },
  request(destination, { body, contentType, batch }) {
    const url = new URL(urlOf(destination));
    if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', VERSION);
    return post(
      { authorization: `Bearer ${destination.token ?? ''}` },
      { url: url.href, body, contentType, headers: batchHeaders(batch) },
    );
  },
  judge(sent) {
    // It answers 204. A page of a proxy answers 200.
    if (sent.accepted && sent.status !== 204)
      return { ...sent, accepted: false, result: `${sent.result}, but Azure Monitor answers 204` };
    const [, code] = /"code"\s*:\s*"([A-Za-z]{1,60})"/.exec(sent.response) ?? [];
    return sent.accepted || code === undefined ? sent : { ...sent, result: `${sent.result} (${code})` };
  },
};

/** Another server than Azure's, such as one for tests, gives tokens itself: the secret goes only where it was entered for. */
function signInOf(destination: OpenDestination): { login: string; scope: string } {
  const { hostname, origin } = new URL(urlOf(destination));
  const cloud = CLOUDS.find(({ domain }) => hostname.endsWith(`.ingest.monitor.${domain}`));
  return {
    login: cloud?.login ?? origin,
    scope: `https://monitor.${cloud?.domain ?? 'azure.com'}//.default`, // two slashes: the audience ends in one
  };
}

function readToken(response: string): TokenAnswer {
  try {
    const { access_token: token, expires_in: seconds, error, error_description } = JSON.parse(response);
    if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token))
      return { token, seconds: Math.max(0, Number(seconds) || 0) };
    const [number] = /AADSTS\d{1,10}/.exec(String(error_description)) ?? [];
    const words = [error, number].filter((word) => /^\w{1,60}$/.test(String(word ?? '')));
    return { problem: words.join(', ') || 'the answer has no token' };
  } catch {
    return { problem: 'the answer is not JSON' };
  }
}
