import { type ReceivedRequest, startReceiver } from '../dispatch/dispatcher-fixture.ts';

/** An event as an index has it. */
interface IndexedEvent {
  time: string | number;
  sourcetype: string;
  event: { id: number };
  fields: Record<string, string | number>;
}

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * An HTTP Event Collector as Splunk documents it ("HTTP Event Collector REST API endpoints", "About HTTP Event Collector Indexer
 * Acknowledgment"): its error codes, a channel for each client, events one after another, acknowledgements that are told once.
 */
export async function startCollector({ acknowledges, token }: { acknowledges: boolean; token: string }) {
  const indexed: IndexedEvent[] = [];
  const pending = new Map<string, { events: IndexedEvent[]; asked: number }>();
  const state = {
    token,
    /** Requests that await their acknowledgement when another one comes: a client that waits leaves 0. */
    overtaken: 0,
    /** Answers 503 to so many requests for acknowledgements. */
    busy: 0,
  };
  let ackId = -1;

  function takeEvents({ headers, body }: ReceivedRequest): [number, object] {
    const channel = headers['x-splunk-request-channel'];
    if (headers.authorization === undefined) return [401, { text: 'Token is required', code: 2 }];
    if (headers.authorization !== `Splunk ${state.token}`) return [403, { text: 'Invalid token', code: 4 }];
    if (acknowledges && channel === undefined) return [400, { text: 'Data channel is missing', code: 10 }];
    if (!GUID.test(`${channel}`)) return [400, { text: 'Invalid data channel', code: 11 }];
    const events = splitObjects(body).map((text) => JSON.parse(text) as IndexedEvent);
    const wrong = events.findIndex((one) => !isEvent(one));
    if (wrong >= 0 || events.length === 0)
      return [400, { text: 'Invalid data format', code: 6, 'invalid-event-number': wrong }];
    if (!acknowledges) {
      indexed.push(...events);
      return [200, { text: 'Success', code: 0 }];
    }
    if (pending.size > 0) state.overtaken += 1;
    ackId += 1;
    pending.set(`${channel} ${ackId}`, { events, asked: 0 });
    return [200, { text: 'Success', code: 0, ackId }];
  }

  // The first query comes too early; what was told is forgotten.
  function tellAcks({ path, body }: ReceivedRequest): [number, object] {
    if (!acknowledges) return [400, { text: 'ACK is disabled', code: 14 }];
    if (state.busy > 0) {
      state.busy -= 1;
      return [503, { text: 'Server is busy', code: 9 }];
    }
    const channel = new URL(path, 'http://hec').searchParams.get('channel');
    const { acks } = JSON.parse(body) as { acks: number[] };
    const told = acks.map((id) => {
      const waiting = pending.get(`${channel} ${id}`);
      if (waiting === undefined) return [id, false];
      waiting.asked += 1;
      if (waiting.asked < 2) return [id, false];
      pending.delete(`${channel} ${id}`);
      indexed.push(...waiting.events);
      return [id, true];
    });
    return [200, { acks: Object.fromEntries(told) }];
  }

  const answers = new WeakMap<ReceivedRequest, object>();
  const receiver = await startReceiver(
    (request) => {
      const [status, answer] = request.path.startsWith('/services/collector/ack')
        ? tellAcks(request)
        : takeEvents(request);
      answers.set(request, answer);
      return status;
    },
    (request) => JSON.stringify(answers.get(request)),
  );
  return { ...receiver, indexed, state };
}

/** Fields are flat, and times seconds since 1970. */
function isEvent({ time, event, fields }: IndexedEvent): boolean {
  const isFlat = Object.values(fields).every((value) => ['string', 'number'].includes(typeof value));
  return Number(time) > 1_700_000_000 && typeof event === 'object' && isFlat;
}

/** The texts of objects that stand one after another. */
function splitObjects(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === '{') {
      if (depth === 0) start = index;
      depth += 1;
    } else if (token === '}') {
      depth -= 1;
      if (depth === 0) found.push(text.slice(start, index + 1));
    }
  }
  return found;
}
