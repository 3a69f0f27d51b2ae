import { expect, test } from 'vitest';
import {
  authentication,
  type HostileAnswer,
  login,
  readyForQuery,
  startHostileServer,
} from '../../../test/support/hostile-server.ts';
import { openPool } from '../../store/connect.ts';
import { UNPROVED } from './server-signature.ts';

/** SCRAM up to the client's proof; then `end` instead of the server's signature. */
const scram =
  (end: Buffer, steps = 2, iterations = '4096'): HostileAnswer =>
  (sent, _socket, bytes) => {
    if (sent === steps) return end;
    if (sent === 0) return authentication(10, Buffer.from('SCRAM-SHA-256\0\0'));
    const nonce = /r=(.*)$/.exec(bytes.toString())?.[1] ?? '';
    const salt = Buffer.from('salt').toString('base64');
    return authentication(11, Buffer.from(`r=${nonce}server,s=${salt},i=${iterations}`));
  };

test.each<[string, HostileAnswer, string]>([
  ['after the proof', scram(login), UNPROVED],
  ['after the proof of 300,000 iterations', scram(login, 2, '300000'), UNPROVED],
  ['with too many iterations', scram(login, 2, '1000001'), 'iteration count 1000001'],
  ['with too many iterations after few', scram(login, 2, '4096,i=2000000000'), 'iteration count 2000000000'],
  ['before the proof', scram(login, 1), UNPROVED],
  ['without saying that it accepts', scram(readyForQuery), UNPROVED],
  [
    'with a wrong signature',
    scram(Buffer.concat([authentication(12, Buffer.from('v=AAAA')), login])),
    'server signature',
  ],
  [
    'with an empty signature',
    scram(Buffer.concat([authentication(12, Buffer.from('v=')), login])),
    'signature',
  ],
  [
    'with an error in place of the signature',
    scram(Buffer.concat([authentication(12, Buffer.from('e=other-error')), login])),
    'other-error',
  ],
  [
    'with a signature before the proof',
    scram(Buffer.concat([authentication(12, Buffer.from('v=AAAA')), login]), 1),
    'SASL',
  ],
  [
    'after the offer again',
    scram(Buffer.concat([authentication(10, Buffer.from('SCRAM-SHA-256\0\0')), login])),
    UNPROVED,
  ],
])('a store that ends a SCRAM login %s is refused', async (_when, answer, message) => {
  const server = await startHostileServer(answer);
  const address = { host: '127.0.0.1', port: server.port, user: 'u', password: 'unspoken', database: 'd' };
  const pool = openPool([address], 'owner', { max: 1 });
  pool.on('error', () => {});
  await expect(pool.query('select 1')).rejects.toThrow(message);
  await pool.end();
  server.close();
});
