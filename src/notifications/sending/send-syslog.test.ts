import { expect, test } from 'vitest';
import { failed, receivers, shortenLimits } from './receiver-fixture.ts';
import { sendSyslog } from './send-syslog.ts';

const { receive, receiveTls } = receivers();

const to = (url: string, body = '5 hello', allowPrivate = true) =>
  sendSyslog({ protocol: 'syslog', url, body }, allowPrivate);

test('all is read before the receiver closes, and that is accepted', async () => {
  let got = '';
  const { port } = await receive((socket) => {
    socket.setEncoding('utf8').on('data', (text) => {
      got += text;
    });
  });
  const body = '9 "é" end  '.repeat(50_000);
  expect(await to(`syslog+tcp://127.0.0.1:${port}`, body)).toMatchObject({ accepted: true, status: null });
  expect(got).toBe(body);
});

test('a certificate that nobody vouches for is refused', async () => {
  const { port } = await receiveTls('renewed', () => {});
  expect(await to(`syslog+tls://localhost:${port}`)).toMatchObject({
    accepted: false,
    result: expect.stringContaining('certificate'),
  });
});

test.each([
  [
    'resets',
    (socket: import('node:net').Socket) => socket.resetAndDestroy(),
    /closed the connection|ECONNRESET/,
  ],
  [
    'talks without an end',
    (socket: import('node:net').Socket) => {
      const timer = setInterval(() => socket.write('x'.repeat(100_000)), 1);
      socket.on('close', () => clearInterval(timer)).resume();
    },
    /failed|closed/,
  ],
])('a receiver that %s has not accepted', async (_what, act, sentence) => {
  const { port } = await receive((socket) => void act(socket.on('error', () => {})));
  expect(await to(`syslog+tcp://127.0.0.1:${port}`, 'x'.repeat(5_000_000))).toMatchObject(failed(sentence));
});

test('a receiver that never closes has not accepted', async () => {
  shortenLimits({ wholeMs: 900 });
  const { port } = await receive((socket) => void socket.pause());
  expect(await to(`syslog+tcp://127.0.0.1:${port}`, 'x'.repeat(5_000_000))).toMatchObject(
    failed(/did not answer within/),
  );
});

test.each([
  ['syslog+tcp://127.0.0.1:9', false, /must begin with syslog\+tls:\/\//],
  ['syslog+tls://127.0.0.1:9', false, /private address/],
  ['syslog+tls://[::ffff:10.0.0.1]:9', false, /private address/],
  ['syslog+tls://0x7f.1:9', false, /private address/],
  ['syslog+tls://2130706433', false, /private address/],
  ['syslog+tls://localhost:9', false, /private address/],
  ['syslog+tls://169.254.169.254', true, /link-local or metadata/],
  ['syslog+tls://user:word@logs.example.com', true, /user name or password/],
  ['https://logs.example.com', true, /must begin with syslog\+tls:\/\//],
  ['syslog+tls://:9', true, /not valid|no host/],
])('%s is refused without a connection (private allowed: %s)', async (url, allowPrivate, sentence) => {
  expect(await to(url, '', allowPrivate)).toMatchObject(failed(sentence));
});
