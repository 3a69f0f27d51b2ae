import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const HERE = new URL('.', import.meta.url).href;

// A server in its own process, because an uncaught error would end the test's process.
const PROGRAM = `
import { createServer } from 'node:http';
import { once } from 'node:events';
import { pino } from '${import.meta.resolve('pino')}';
import { AsyncLocalStorage } from 'node:async_hooks';
import { EscapedErrors } from '${HERE}escaped-errors.ts';
import { limitPipelining } from '${HERE}pipelining.ts';

const forEverybody = AsyncLocalStorage.snapshot();
const counted = [];
const escaped = new EscapedErrors(pino({ level: 'silent' }), (from) => counted.push(from));
const throws = (message) => { throw new Error(message); };
const gone = () => { throw Object.assign(new Error('reset'), { code: 'ECONNRESET' }); };
let stopped = () => {};
escaped.watch(() => stopped());
const server = createServer((request, response) => {
  if (request.url === '/at-once') throws('at once');
  if (request.url === '/later') setTimeout(throws, 5, 'later');
  if (request.url === '/promise') void Promise.resolve().then(() => throws('promise'));
  if (request.url === '/answered') response.once('close', () => setImmediate(throws, 'answered')).end('ok');
  if (request.url === '/gone') forEverybody(() => setTimeout(gone, 5));
  if (request.url === '/everybody') forEverybody(() => setTimeout(throws, 5, 'everybody'));
  if (request.url === '/well') response.end('ok');
});
escaped.follow(server);
limitPipelining(server, escaped.guard);
await once(server.listen(0, '127.0.0.1'), 'listening');
const ask = (path) => fetch('http://127.0.0.1:' + server.address().port + path).then(
  async (answer) => path + ' ' + (await answer.text()),
  () => path + ' closed',
);
for (const path of ['/at-once', '/later', '/promise', '/answered', '/well']) console.log(await ask(path));
server.emit('error', new Error('accept ENOBUFS'));
ask('/gone');
const gaveUp = new Promise((resolve) => { stopped = resolve; });
ask('/everybody');
await gaveUp;
console.log(counted.join(' '));
process.exit(3);
`;

test('an error that escapes a request closes only its connection; an error of the process stops it', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], { stdio: 'pipe' });
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  expect(errors).toBe('');
  expect(output.trim().split('\n')).toEqual([
    '/at-once closed',
    '/later closed',
    '/promise closed',
    '/answered ok',
    '/well ok',
    'request request request request connection connection process',
  ]);
  expect(code).toBe(3);
});
