import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import aws4 from 'aws4';
import type { OutgoingHttp, SendResult } from '../../sending/outgoing.ts';
import type { ChannelFormat, Envelope, MakeBatch, OpenDestination } from '../channel.ts';
import { urlOf } from '../http-request.ts';
import { batchHeaders, testMessage } from './log-batch.ts';

const compress = promisify(gzip);

/** Of a bucket whose URL does not name its region. */
const USUAL_REGION = 'us-east-1';

const makeBatch: MakeBatch = ({ lines }) => ({
  contentType: 'application/x-ndjson',
  body: lines.map(({ json }) => `${json}\n`).join(''),
});

/**
 * Objects of S3 and compatible services, each a batch as gzip of JSON lines. An object has the hour of its first entry, the range
 * and a digest of its text in its name, and is never written over: if one with the name exists, the batch is stored already.
 */
export const s3: ChannelFormat = {
  makeMessage: testMessage(makeBatch),
  makeBatch,
  mostEvents: 1,
  async request(destination, envelope): Promise<OutgoingHttp> {
    const url = new URL(urlOf(destination));
    url.pathname = `${url.pathname.replace(/\/$/, '')}/${objectName(envelope)}`;
    const body = await compress(envelope.body, { level: 6 });
    const headers = {
      'content-type': envelope.contentType,
      'content-md5': createHash('md5').update(body).digest('base64'), // buckets with Object Lock ask for it
      'if-none-match': '*',
      ...metadata(envelope),
      ...encryption(destination.settings['encryption']),
      'x-amz-content-sha256': createHash('sha256').update(body).digest('hex'),
      'x-amz-date': basicTime(new Date(envelope.at * 1_000)),
    };
    return {
      protocol: 'http',
      method: 'PUT',
      url: url.href,
      headers: { ...headers, authorization: authorization(destination, url, headers) },
      body: body.toString('base64'),
      isBase64: true,
      secretHeaders: ['authorization'],
    };
  },
  judge(sent: SendResult): SendResult {
    // 412: this batch was stored by an attempt whose answer was lost. Its name has the digest of its text.
    if (sent.status === 412) return { ...sent, accepted: true, result: '412: this object is stored already' };
    const [, code] = /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(sent.response) ?? [];
    const [, region] = /<Region>([a-z0-9-]{1,40})<\/Region>/.exec(sent.response) ?? [];
    if (sent.accepted || code === undefined) return sent;
    const where = region === undefined ? '' : `; the region of the bucket is ${region}`;
    return { ...sent, result: `${sent.result} (${code}${where})` };
  },
};

/** The region that a URL names, such as `eu-central-1` of `bucket.s3.eu-central-1.amazonaws.com`; null = none. */
export function regionOf(url: URL): string | null {
  const named = /(?:^|\.)s3[.-](?:fips[.-]|dualstack\.)*([a-z]{2}(?:-[a-z0-9]+)+)\.[a-z]/.exec(url.hostname);
  return named?.[1] ?? null;
}

/** Such as `2026/11/28/04/00000000000000000001-00000000000000000500.3f9c….7d1a….ndjson.gz`. */
function objectName({ batch, body, eventId, epoch }: Envelope): string {
  const [first] = batch?.lines ?? [];
  // What begins with a dot is left out by "activity verify".
  if (batch === undefined || first === undefined) return `.test/${eventId}.ndjson.gz`;
  const hour = first.at.slice(0, 13).replace(/[-T]/g, '/');
  const range = `${padded(batch.firstId)}-${padded(batch.lastId)}`;
  const digest = createHash('sha256').update(body).digest('hex').slice(0, 16);
  return `account-${batch.accountId}/${hour}/${range}.${epoch}.${digest}.ndjson.gz`;
}

/** Names of objects are listed in the order of their bytes. */
const padded = (id: number) => String(id).padStart(16, '0');

function metadata({ batch }: Envelope): Record<string, string> {
  return Object.fromEntries(
    Object.entries(batchHeaders(batch)).map(([name, value]) => [`x-amz-meta-${name}`, value]),
  );
}

/** Headers of server-side encryption. `wanted`: AES256, aws:kms, or the ARN of a key of KMS; the bucket's own without it. */
function encryption(wanted: unknown): Record<string, string> {
  if (typeof wanted !== 'string') return {};
  if (!wanted.startsWith('arn:')) return { 'x-amz-server-side-encryption': wanted };
  return {
    'x-amz-server-side-encryption': 'aws:kms',
    'x-amz-server-side-encryption-aws-kms-key-id': wanted,
  };
}

/** Signature Version 4 of the request. */
function authorization(
  { secrets, settings }: OpenDestination,
  url: URL,
  headers: Readonly<Record<string, string>>,
): string {
  const credentials = secrets.authorization ?? '';
  const end = credentials.lastIndexOf(':'); // OpenStack's ids have one
  const region = settings['region'] ?? regionOf(url) ?? USUAL_REGION;
  const signed = aws4.sign(
    { service: 's3', region: String(region), method: 'PUT', host: url.host, path: url.pathname, headers },
    { accessKeyId: credentials.slice(0, end), secretAccessKey: credentials.slice(end + 1) },
  );
  return String(signed.headers?.['Authorization']);
}

/** Such as `20261128T041500Z`. */
function basicTime(at: Date): string {
  return at.toISOString().replace(/[-:]|\.\d+/g, '');
}
