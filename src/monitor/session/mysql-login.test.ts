import { createPrivateKey, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { signWithPassword } from './mysql-login.ts';

test('a password of 32 bytes signs like the RFC 8032 private key with the same bytes', async () => {
  for (const password of ['a password that has 32 characters', '0123456789abcdefghijklmnopqrstuv']) {
    const seed = Buffer.from(password).subarray(0, 32);
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const scramble = Buffer.from('a scramble of the server, 32 long');
    expect(await signWithPassword(seed, scramble)).toEqual(sign(null, scramble, key));
  }
});
