import type { ChannelFormat, MakeBatch, OpenDestination } from '../channel.ts';
import { post, urlOf } from '../http-request.ts';
import { batchHeaders, testMessage } from './log-batch.ts';

/** A document of this id is there already. */
const CONFLICT = 'version_conflict_engine_exception';

// https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk: an action and a document for each entry. `create` is the
// only action that data streams take, and writes nothing over. They need @timestamp, which ECS has.
const makeBatch: MakeBatch = ({ accountId, epoch, lines }) => ({
  contentType: 'application/x-ndjson',
  body: lines
    .map(({ id, at, json }) => {
      const action = JSON.stringify({ create: { _id: `${accountId}-${epoch}-${id}` } });
      const document = json.startsWith('{"@timestamp"') ? json : `{"@timestamp":"${at}",${json.slice(1)}`;
      return `${action}\n${document}\n`;
    })
    .join(''),
});

/** The bulk API of Elasticsearch, and of OpenSearch: into the data stream or the index that the URL names. */
export const elastic: ChannelFormat = {
  makeMessage: testMessage(makeBatch),
  makeBatch,
  mostEvents: 1,
  request(destination, { body, contentType, batch }) {
    const url = new URL(urlOf(destination));
    url.pathname = `${url.pathname.replace(/\/(?:_bulk)?\/?$/, '')}/_bulk`;
    url.searchParams.set('filter_path', 'errors,items.*.error.type');
    const request = post(withKey(destination), {
      url: url.href,
      body,
      contentType,
      headers: batchHeaders(batch),
    });
    return { ...request, wholeAnswer: true };
  },
  // The answer is 200 also if documents were rejected.
  judge(answer) {
    const sent = { ...answer, response: answer.response.slice(0, KEPT) };
    if (!sent.accepted) return sent;
    const refuse = (why: string) => ({ ...sent, accepted: false, result: `${sent.result}, but ${why}` });
    const types = errorTypes(answer.response);
    if (types === null) return refuse('this is no answer of Elasticsearch');
    const other = types.find((type) => type !== CONFLICT);
    if (other !== undefined) return refuse(`Elasticsearch rejected entries (${other})`);
    return types.length === 0
      ? sent
      : { ...sent, result: `${sent.result}: ${types.length} of these entries were stored already` };
  },
};

/** How much of an answer is kept with an attempt. */
const KEPT = 4_000;

/** The kinds of errors of the documents; null = the answer is none of the bulk API, or not whole. */
function errorTypes(response: string): string[] | null {
  try {
    const { errors, items = [] } = JSON.parse(response) as {
      errors?: unknown;
      items?: { create?: { error?: { type?: unknown } } }[];
    };
    const types = items.map(({ create }) => create?.error?.type);
    if (errors === false && types.length === 0) return [];
    if (errors !== true || types.length === 0) return null;
    return types.map((type) => (typeof type === 'string' && /^\w{1,60}$/.test(type) ? type : 'unknown'));
  } catch {
    return null;
  }
}

/** Elasticsearch takes `Authorization: ApiKey KEY`; people paste the key. */
function withKey({ secrets }: OpenDestination): OpenDestination['secrets'] {
  const { authorization = '' } = secrets;
  return {
    ...secrets,
    authorization: authorization.includes(' ') ? authorization : `ApiKey ${authorization}`,
  };
}
