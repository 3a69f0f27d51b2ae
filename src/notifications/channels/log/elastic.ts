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
    return post(withKey(destination), {
      url: url.href,
      body,
      contentType,
      headers: batchHeaders(batch),
    });
  },
  // The answer is 200 also if documents were rejected.
  judge(sent) {
    if (!sent.accepted || /^\{\s*"errors"\s*:\s*false\b/.test(sent.response)) return sent;
    const refuse = (why: string) => ({ ...sent, accepted: false, result: `${sent.result}, but ${why}` });
    const types = [...sent.response.matchAll(/"type"\s*:\s*"([a-z_]{1,60})"/g)].map(([, type]) => type);
    if (types.length === 0) return refuse('this is no answer of Elasticsearch');
    const other = types.find((type) => type !== CONFLICT);
    if (other !== undefined) return refuse(`Elasticsearch rejected entries (${other})`);
    // Only the begin of a long answer is kept. A smaller batch has a short one.
    if (!sent.response.trimEnd().endsWith('}'))
      return { ...refuse('the answer is too long to tell that all entries are stored'), status: 413 };
    return { ...sent, result: `${sent.result}: these entries are stored already` };
  },
};

/** Elasticsearch takes `Authorization: ApiKey KEY`; people paste the key. */
function withKey({ secrets }: OpenDestination): OpenDestination['secrets'] {
  const { authorization = '' } = secrets;
  return {
    ...secrets,
    authorization: authorization.includes(' ') ? authorization : `ApiKey ${authorization}`,
  };
}
