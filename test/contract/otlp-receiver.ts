import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';

/** A span as a collector gets it. */
export interface Span {
  trace: string;
  id: string;
  /** '' of the first of a trace. */
  parent: string;
  name: string;
  /** 1 internal, 2 server, 3 client. */
  kind: number;
  attributes: Record<string, string | number>;
  /** Identifiers of spans. */
  links: string[];
  /** 2 = an error. */
  status: number;
  seconds: number;
  /** Of the resource. */
  resource: Record<string, string | number>;
}

/** A point of a gauge as a collector gets it. */
export interface GaugePoint {
  name: string;
  unit: string;
  attributes: Record<string, string | number>;
  value: number;
  /** Of the resource. */
  resource: Record<string, string | number>;
}

type Field = [number: number, value: Buffer | bigint];

/** The fields of a message (https://protobuf.dev/programming-guides/encoding/). Throws at what is none. */
function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const [number, wire] = [tag >> 3, tag & 7];
    if (wire === 0) fields.push([number, varint()]);
    else if (wire === 1) {
      fields.push([number, message.readBigUInt64LE(at)]);
      at += 8;
    } else if (wire === 2 || wire === 5) {
      const length = wire === 5 ? 4 : Number(varint());
      if (at + length > message.length) throw new Error('a field is longer than its message');
      fields.push([number, message.subarray(at, at + length)]);
      at += length;
    } else throw new Error(`wire type ${wire} is none`);
  }
  return fields;
}

const all = (fields: Field[], number: number) =>
  fields.flatMap(([of, value]) => (of === number && typeof value !== 'bigint' ? [value] : []));
const text = (fields: Field[], number: number) => all(fields, number)[0]?.toString('utf8') ?? '';
const hex = (fields: Field[], number: number) => all(fields, number)[0]?.toString('hex') ?? '';
const figure = (fields: Field[], number: number) =>
  fields.flatMap(([of, value]) => (of === number && typeof value === 'bigint' ? [value] : []))[0] ?? 0n;

/** Key and value, of the kinds that are used: texts, whole numbers and fractions. */
function attributesOf(fields: Field[], number: number): Record<string, string | number> {
  return Object.fromEntries(
    all(fields, number).map((pair) => {
      const value = fieldsOf(all(fieldsOf(pair), 2)[0] ?? Buffer.alloc(0));
      const kinds = value.map(([kind]) => kind);
      if (kinds.includes(1)) return [text(fieldsOf(pair), 1), text(value, 1)];
      const whole = kinds.includes(3);
      return [text(fieldsOf(pair), 1), whole ? Number(figure(value, 3)) : double(figure(value, 4))];
    }),
  );
}

/** The spans of an ExportTraceServiceRequest (opentelemetry-proto 1.x, trace/v1/trace.proto). */
function spansOf(body: Buffer): Span[] {
  return all(fieldsOf(body), 1)
    .map(fieldsOf)
    .flatMap((group) => {
      const resource = all(group, 1).map(fieldsOf)[0] ?? [];
      return all(group, 2)
        .flatMap((scope) => all(fieldsOf(scope), 2))
        .map(fieldsOf)
        .map((span) => ({
          trace: hex(span, 1),
          id: hex(span, 2),
          parent: hex(span, 4),
          name: text(span, 5),
          kind: Number(figure(span, 6)),
          attributes: attributesOf(span, 9),
          links: all(span, 13).map((link) => hex(fieldsOf(link), 2)),
          status: Number(figure(fieldsOf(all(span, 15)[0] ?? Buffer.alloc(0)), 3)),
          seconds: Number(figure(span, 8) - figure(span, 7)) / 1e9,
          resource: attributesOf(resource, 1),
        }));
    });
}

/** The points of the gauges of an ExportMetricsServiceRequest (opentelemetry-proto 1.x, metrics/v1/metrics.proto). */
function pointsOf(body: Buffer): GaugePoint[] {
  return all(fieldsOf(body), 1)
    .map(fieldsOf)
    .flatMap((group) => {
      const resource = attributesOf(all(group, 1).map(fieldsOf)[0] ?? [], 1);
      return all(group, 2)
        .flatMap((scope) => all(fieldsOf(scope), 2))
        .map(fieldsOf)
        .flatMap((metric) =>
          all(fieldsOf(all(metric, 5)[0] ?? Buffer.alloc(0)), 1)
            .map(fieldsOf)
            .map((point) => ({
              name: text(metric, 1),
              unit: text(metric, 3),
              attributes: attributesOf(point, 7),
              value: double(figure(point, 4)),
              resource,
            })),
        );
    });
}

function double(bits: bigint): number {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(bits);
  return bytes.readDoubleLE();
}

/** A collector: takes OTLP by HTTP as protobuf, traces at /v1/traces and metrics at /v1/metrics, and nothing else. */
export interface Receiver {
  origin: string;
  spans: Span[];
  points: GaugePoint[];
  /** Resolves when something came. */
  arrived: Promise<void>;
  /** All that came, as it came: for what must not be in it. */
  bytes(): Buffer;
  headers: Record<string, unknown>[];
  close(): void;
}

/** Starts one; port 0 = a free one. */
export async function startReceiver(onPort = 0): Promise<Receiver> {
  const arrived = Promise.withResolvers<void>();
  const spans: Span[] = [];
  const points: GaugePoint[] = [];
  const bodies: Buffer[] = [];
  const headers: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const sent = Buffer.concat(chunks);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    const { url = '' } = request;
    const isKnown = request.method === 'POST' && /^\/v1\/(?:traces|metrics)$/.test(url);
    if (!isKnown || request.headers['content-type'] !== 'application/x-protobuf') {
      response.writeHead(400).end();
      return;
    }
    bodies.push(body);
    headers.push(request.headers);
    if (url === '/v1/traces') spans.push(...spansOf(body));
    else points.push(...pointsOf(body));
    arrived.resolve();
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>((resolve) => server.listen(onPort, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    origin: `http://127.0.0.1:${port}`,
    spans,
    points,
    arrived: arrived.promise,
    bytes: () => Buffer.concat(bodies),
    headers,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
