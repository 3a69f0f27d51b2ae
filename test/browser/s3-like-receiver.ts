import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import aws4 from 'aws4';

/** A bucket that takes objects as S3 does: only with a valid signature, and none over another. */
export interface S3Like {
  /** The URL of the bucket. */
  url: string;
  /** What may write to it, as the form wants it. */
  accessKey: string;
  region: string;
  /** The stored texts, by path. */
  objects: Map<string, string>;
  /** The encryption that each stored object asked for. */
  encryptions: (string | undefined)[];
  stop(): Promise<void>;
}

const KEY = { accessKeyId: 'ACMEKEY', secretAccessKey: 'unspoken/secret+key' };
const REGION = 'eu-central-1';

/** Starts a bucket. It answers with S3's codes: SignatureDoesNotMatch, AuthorizationHeaderMalformed, PreconditionFailed. */
export async function startS3Like(): Promise<S3Like> {
  const objects = new Map<string, string>();
  const encryptions: S3Like['encryptions'] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const [status, text] = answerTo(request, objects);
    if (status === 200) {
      objects.set(`${request.url}`, gunzipSync(body).toString());
      encryptions.push(request.headers['x-amz-server-side-encryption']?.toString());
    }
    response.writeHead(status, { 'content-type': 'application/xml' }).end(text);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/logs`,
    accessKey: `${KEY.accessKeyId}:${KEY.secretAccessKey}`,
    region: REGION,
    objects,
    encryptions,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const fault = (code: string, more = '') => `<Error><Code>${code}</Code>${more}</Error>`;

function answerTo(request: IncomingMessage, objects: ReadonlyMap<string, string>): [number, string] {
  const { method = '', url = '', headers } = request;
  const signed = /Credential=[^/]+\/\d{8}\/([^/]+)\/.*SignedHeaders=([^,]+)/.exec(
    headers.authorization ?? '',
  );
  const [, region = '', names = ''] = signed ?? [];
  if (region !== REGION) return [400, fault('AuthorizationHeaderMalformed', `<Region>${REGION}</Region>`)];
  const kept = Object.fromEntries(names.split(';').map((name) => [name, `${headers[name]}`]));
  const { host = '', ...others } = kept;
  const again = aws4.sign({ service: 's3', region, method, host, path: url, headers: others }, KEY);
  if (again.headers?.['Authorization'] !== headers.authorization)
    return [403, fault('SignatureDoesNotMatch')];
  if (headers['if-none-match'] === '*' && objects.has(url)) return [412, fault('PreconditionFailed')];
  return [200, ''];
}
