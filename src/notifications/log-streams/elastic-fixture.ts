import { startReceiver } from '../dispatch/dispatcher-fixture.ts';

interface Rejected {
  /** Rejects this many documents of the next request, as a full queue does. */
  documents: number;
  type: string;
}

/**
 * The bulk API of Elasticsearch as its documentation has it: one result per document in a 200, in the shape that `filter_path` asks for;
 * a data stream takes `create` only, wants @timestamp, and has each id once.
 */
export async function startElastic({ key }: { key: string }) {
  const documents = new Map<string, Record<string, unknown>>();
  const state = {
    rejected: { documents: 0, type: 'es_rejected_execution_exception' } as Rejected,
    /** How many answers are lost on their way, although the documents are stored. */
    lost: 0,
    /** How often a document came that was there. */
    conflicts: 0,
  };
  const answers = new WeakMap<object, string>();

  function store(action: string, text: string): string | null {
    const { create } = JSON.parse(action) as { create?: { _id: string } };
    if (create === undefined) return 'illegal_argument_exception';
    if (state.rejected.documents > 0) {
      state.rejected.documents -= 1;
      return state.rejected.type;
    }
    const document = JSON.parse(text) as Record<string, unknown>;
    if (Number.isNaN(Date.parse(String(document['@timestamp'])))) return 'document_parsing_exception';
    if (documents.has(create._id)) {
      state.conflicts += 1;
      return 'version_conflict_engine_exception';
    }
    documents.set(create._id, document);
    return null;
  }

  const receiver = await startReceiver(
    (request) => {
      const { pathname, searchParams } = new URL(request.path, 'http://elastic');
      if (request.headers.authorization !== `ApiKey ${key}`) return 401;
      if (pathname !== '/logs-dbvitals.activity-default/_bulk') return 405;
      if (searchParams.get('filter_path') !== 'errors,items.*.error.type') return 400;
      const lines = request.body.split('\n');
      if (lines.pop() !== '' || lines.length % 2 !== 0) return 400;
      const items = lines.flatMap((line, at) => {
        const type = at % 2 === 0 ? store(line, lines[at + 1] ?? '') : null;
        return type === null ? [] : [{ create: { error: { type } } }];
      });
      answers.set(request, JSON.stringify({ errors: items.length > 0, ...(items.length > 0 && { items }) }));
      if (state.lost === 0) return 200;
      state.lost -= 1;
      return 502;
    },
    (request, status) => (status === 200 ? (answers.get(request) ?? '') : '{"error":"as a proxy says"}'),
  );
  return { ...receiver, documents, state };
}
