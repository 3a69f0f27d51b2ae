import { expect, test } from 'vitest';
import {
  authentication,
  type HostileAnswer,
  readyForQuery,
  startHostileServer,
} from '../../../test/support/hostile-server.ts';
import { openPool } from '../../store/connect.ts';
import { UNPROVED } from './server-signature.ts';

const accepted = Buffer.concat([authentication(0), readyForQuery]);

/** SCRAM up to the client's proof; then `end` instead of the server's signature. */
const scram =
  (end: Buffer, steps = 2): HostileAnswer =>
  (sent, _socket, bytes) => {
    if (sent === steps) return end;
    if (sent === 0) return authentication(10, Buffer.from('SCRAM-SHA-256\0\0'));
    const nonce = /r=(.*)$/.exec(bytes.toString())?.[1] ?? '';
    const salt = Buffer.from('salt').toString('base64');
    return authentication(11, Buffer.from(`r=${nonce}server,s=${salt},i=4096`));
  };

test.each<[string, HostileAnswer, string]>([
  ['after the proof', scram(accepted), UNPROVED],
  ['before the proof', scram(accepted, 1), UNPROVED],
  ['without saying that it accepts', scram(readyForQuery), UNPROVED],
  [
    'with a wrong signature',
    scram(Buffer.concat([authentication(12, Buffer.from('v=AAAA')), accepted])),
    'server signature',
  ],
  [
    'with an empty signature',
    scram(Buffer.concat([authentication(12, Buffer.from('v=')), accepted])),
    'signature',
  ],
  [
    'with an error in place of the signature',
    scram(Buffer.concat([authentication(12, Buffer.from('e=other-error')), accepted])),
    'other-error',
  ],
  [
    'with a signature before the proof',
    scram(Buffer.concat([authentication(12, Buffer.from('v=AAAA')), accepted]), 1),
    'SASL',
  ],
  [
    'after the offer again',
    scram(Buffer.concat([authentication(10, Buffer.from('SCRAM-SHA-256\0\0')), accepted])),
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
