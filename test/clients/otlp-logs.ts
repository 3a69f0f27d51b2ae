import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { eventually } from './program.ts';
import type { SampleService } from './sample-service.ts';

/** A message of the official protobuf definitions, as protobuf.js makes it of them. */
interface MessageType {
  fromObject(json: object): object;
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): unknown;
}

interface LogsRequest {
  resourceLogs: {
    scopeLogs: {
      logRecords: { timeUnixNano: string; severityNumber: number; body: { stringValue: string } }[];
    }[];
  }[];
}

/** The messages that opentelemetry-js generates from opentelemetry-proto. */
const DEFINITIONS = '@opentelemetry/otlp-proto-exporter-base/build/src/generated/root.js';

interface Definitions {
  opentelemetry: { proto: { collector: { logs: { v1: { ExportLogsServiceRequest: MessageType } } } } };
}

/**
 * A log stream by OTLP reaches a collector that reads it by the official definitions: as protobuf and back it is the same, so
 * no field is unknown or of another type.
 */
export async function streamToOtlp(service: SampleService): Promise<string[]> {
  const wrong: string[] = [];
  const ids: number[] = [];
  const { opentelemetry } = createRequire(import.meta.url)(DEFINITIONS) as Definitions;
  const { ExportLogsServiceRequest } = opentelemetry.proto.collector.logs.v1;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const isOurs = request.url === '/v1/logs' && request.headers['content-type'] === 'application/json';
    if (!isOurs) wrong.push(`${request.method} ${request.url} as ${request.headers['content-type']}`);
    try {
      ids.push(...readIds(ExportLogsServiceRequest, body));
    } catch (error) {
      wrong.push(`${error}: ${body.slice(0, 500)}`);
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1/logs`;
  const stream = [
    '--account',
    `${service.accountId}`,
    '--channel',
    'otlp_logs',
    '--from-id',
    '1',
    '--url',
    url,
  ];
  await service.command('destination', 'add', '--name', 'Collector', ...stream);
  const isWhole = await eventually(() => (ids.length > 1_000 ? true : undefined), 30);
  server.closeAllConnections();
  server.close();
  if (!isWhole) wrong.push(`${ids.length} entries came, more than 1,000 were awaited`);
  const at = ids.findIndex((id, index) => id !== index + 1);
  if (at >= 0) wrong.push(`entry ${at + 1} came as ${ids[at]}`);
  return wrong.slice(0, 10);
}

/** The ids of the entries in a request. Throws if it is not what the definitions say. */
function readIds(type: MessageType, body: string): number[] {
  const json = JSON.parse(body) as LogsRequest;
  const bytes = type.encode(type.fromObject(json)).finish();
  const again = type.toObject(type.decode(bytes), { longs: String });
  if (!isDeepStrictEqual(JSON.parse(JSON.stringify(again)), json))
    throw new Error(`As protobuf it is ${JSON.stringify(again).slice(0, 500)}`);
  const records = json.resourceLogs.flatMap(({ scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) => logRecords),
  );
  return records
    .map(({ body: { stringValue } }) => JSON.parse(stringValue) as { id: number })
    .filter(({ id }) => id !== undefined) // a test has none
    .map(({ id }) => id);
}
