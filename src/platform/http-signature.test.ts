import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { hasDigest, isSignedBy, parseSignature, signRequest } from './http-signature.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const raw = Buffer.from(String(publicKey.export({ format: 'jwk' })['x']), 'base64url');
const request = { method: 'POST', path: '/collector/work' };
const body = Buffer.from('{"free":1}');
const NONCE = 1_772_323_200_123_456;

const signed = () => signRequest(privateKey, { ...request, body, keyId: '7/12', nonce: NONCE });
const parsed = (headers: object) => parseSignature({ ...signed(), ...headers });

test('a signed request has the headers of RFC 9421 and RFC 9530, and its signature base is theirs', () => {
  const headers = signed();
  const parameters = `("@method" "@path" "content-digest");created=1772323200;keyid="7/12";alg="ed25519";nonce="${NONCE}"`;
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  expect(headers).toMatchObject({ 'content-digest': digest, 'signature-input': `collector=${parameters}` });
  // Section 2.5, written out.
  const base = [
    '"@method": POST',
    '"@path": /collector/work',
    `"content-digest": ${digest}`,
    `"@signature-params": ${parameters}`,
  ].join('\n');
  const bytes = Buffer.from(headers.signature.slice('collector=:'.length, -1), 'base64');
  const key = createPublicKey(privateKey);
  expect(verify(null, Buffer.from(base), key, bytes)).toBe(true);
});

test('what was signed is accepted, and nothing else', () => {
  const signature = parseSignature(signed());
  if (!signature) throw new Error('no signature');
  expect(signature).toMatchObject({ keyId: '7/12', nonce: NONCE });
  expect(isSignedBy(raw, request, signature)).toBe(true);
  expect(hasDigest(body, signature)).toBe(true);
  expect(isSignedBy(raw, { ...request, path: '/collector/result' }, signature)).toBe(false);
  expect(isSignedBy(raw, { ...request, method: 'PUT' }, signature)).toBe(false);
  expect(isSignedBy(Buffer.alloc(32, 1), request, signature)).toBe(false);
  expect(isSignedBy(raw, request, { ...signature, digest: Buffer.alloc(32) })).toBe(false);
  expect(
    isSignedBy(raw, request, { ...signature, parameters: signature.parameters.replace('7/12', '7/13') }),
  ).toBe(false);
  expect(hasDigest(Buffer.from('{"free":2}'), signature)).toBe(false);
});

test('headers of any other form are no signature', () => {
  const input = signed()['signature-input'];
  const others = [
    input.replace('"@path" ', ''),
    input.replace(' "content-digest"', ''),
    input.replace('ed25519', 'hmac-sha256'),
    input.replace('"7/12"', '"7"'),
    input.replace('"7/12"', '"-7/12"'),
    input.replace('created=1772323200', 'created=1772323201'),
    input.replace(`;nonce="${NONCE}"`, ''),
    input.replace('collector=', 'other='),
    `${input}, ${input}`,
    `${input};expires=1`,
    '',
  ];
  for (const other of others) expect([other, parsed({ 'signature-input': other })]).toEqual([other, null]);
  for (const name of ['signature-input', 'signature', 'content-digest']) {
    expect(parsed({ [name]: undefined })).toBe(null);
    expect(parsed({ [name]: [signed()['signature-input']] })).toBe(null);
    expect(parsed({ [name]: 'collector=:AAAA:' })).toBe(null);
  }
});
