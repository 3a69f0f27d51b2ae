import { createPublicKey, verify } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newSigningKey, newSigningSecret, publicKeyOf, signatures } from './sign.ts';

const at = Math.floor(Date.now() / 1_000);
const content = { id: 'evt_1', at, body: '{"event":"test","text":"ä 🐘"}' };
const always = (secret: string) => ({ secret, until: null });

function headers(signature: string) {
  return { 'webhook-id': content.id, 'webhook-timestamp': String(at), 'webhook-signature': signature };
}

test('the signature is the one of the specification', () => {
  // The example of the specification's reference implementations.
  const known = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    at: 1614265330,
    body: '{"test": 2432232314}',
  };
  expect(signatures(known, [always('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')])).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

test('a new secret has 32 bytes, and verifies', () => {
  const secret = newSigningSecret();
  expect(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);
  expect(new Webhook(secret).verify(content.body, headers(signatures(content, [always(secret)])))).toEqual(
    JSON.parse(content.body),
  );
});

test('during a rotation both secrets verify, and the old one no longer after its end', () => {
  const [now, old] = [newSigningSecret(), newSigningSecret()];
  const until = new Date((at + 60) * 1_000).toISOString();
  const during = signatures(content, [always(now), { secret: old, until }]);
  for (const secret of [now, old]) {
    expect(new Webhook(secret).verify(content.body, headers(during))).toBeTruthy();
  }
  const ended = new Date(at * 1_000).toISOString();
  const after = signatures(content, [always(now), { secret: old, until: ended }]);
  expect(new Webhook(now).verify(content.body, headers(after))).toBeTruthy();
  expect(() => new Webhook(old).verify(content.body, headers(after))).toThrow('No matching signature found');
});

test('a changed body, id or time does not verify', () => {
  const secret = newSigningSecret();
  const signed = headers(signatures(content, [always(secret)]));
  const webhook = new Webhook(secret);
  expect(() => webhook.verify(`${content.body} `, signed)).toThrow();
  expect(() => webhook.verify(content.body, { ...signed, 'webhook-id': 'evt_2' })).toThrow();
  expect(() => webhook.verify(content.body, { ...signed, 'webhook-timestamp': String(at - 1) })).toThrow();
});

test('an Ed25519 key signs as v1a, and its public key verifies', () => {
  const secret = newSigningKey();
  expect(Buffer.from(secret.replace(/^whsk_/, ''), 'base64')).toHaveLength(64);
  const publicKey = publicKeyOf(secret) ?? '';
  const x = Buffer.from(publicKey.replace(/^whpk_/, ''), 'base64');
  expect(x).toHaveLength(32);
  const [version, signature = ''] = signatures(content, [always(secret)]).split(',');
  expect(version).toBe('v1a');
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const told = Buffer.from(`${content.id}.${at}.${content.body}`);
  expect(verify(null, told, key, Buffer.from(signature, 'base64'))).toBe(true);
  expect(verify(null, Buffer.from(`${told}x`), key, Buffer.from(signature, 'base64'))).toBe(false);
  expect(publicKeyOf(newSigningSecret())).toBeNull();
});

test('a secret of an unknown form is refused', () => {
  expect(() => signatures(content, [always('secret')])).toThrow('begins with whsec_ or whsk_');
});
