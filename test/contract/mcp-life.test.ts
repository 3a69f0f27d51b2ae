import { createServer } from 'node:net';
import { expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { startAssistant, textOf } from './assistant.ts';
import { command } from './command.ts';
import { freePort } from './free-port.ts';
import { startProcess, startService } from './running-service.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'suite', version: '1' } },
};

/** The command with its standard output apart, told what an assistant tells first. */
function startMcp(key: string, origin = inject('origin')) {
  const started = startProcess(['mcp', '--url', origin], { DBVITALS_API_KEY: key });
  let stdout = '';
  started.child.stdout?.on('data', (text: string) => {
    stdout += text;
  });
  const tell = (message: object) => started.child.stdin?.write(`${JSON.stringify(message)}\n`);
  tell(INITIALIZE);
  return { ...started, tell, stdout: () => stdout };
}

test('a missing or wrong setting at start: one sentence, exit code 2, nothing on standard output', async () => {
  const key = { DBVITALS_API_KEY: 'unspoken' };
  const wrong: [args: string[], environment: Record<string, string>, told: RegExp][] = [
    [['--url', 'http://127.0.0.1:8080'], {}, /DBVITALS_API_KEY/],
    [['--url', 'http://127.0.0.1:8080'], { DBVITALS_API_KEY: 'unspoken key' }, /DBVITALS_API_KEY/],
    [[], key, /--url/],
    [['--url', 'nonsense'], key, /--url/],
    [['--url', 'ftp://127.0.0.1'], key, /--url/],
    [['--url', 'http://user:unspoken@127.0.0.1'], key, /--url/],
    [['--url', 'http://127.0.0.1', '--api-key=unspoken'], key, /--help/],
  ];
  for (const [args, environment, told] of wrong) {
    const { exit, stdout, stderr } = await command(['mcp', ...args], { environment });
    expect(stderr).toMatch(/^[^\n]{10,200}\n$/);
    expect(stderr).toMatch(told);
    expect(stderr).not.toContain('unspoken');
    expect({ exit, stdout }, args.join(' ')).toEqual({ exit: 2, stdout: '' });
  }
});

test('standard output has one JSON message per line and nothing else, whatever the input', async () => {
  const { key } = await makeAccount();
  const { child, tell, says, stdout, output, ended } = startMcp(key);
  await says(/"id":1/);
  child.stdin?.write('no message\n{"half":\n\n[]\n');
  tell({ jsonrpc: '2.0', method: 'notifications/initialized' });
  tell({ jsonrpc: '2.0', id: 2, method: 'no/such/method' });
  tell({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'getFleet', arguments: {} } });
  await says(/"id":3/);
  child.stdin?.end();
  expect(await ended).toBe(0);
  const messages = stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(messages.map(({ jsonrpc }) => jsonrpc)).toEqual(messages.map(() => '2.0'));
  expect(messages.find(({ id }) => id === 2)).toMatchObject({ error: { code: -32601 } });
  expect(messages.find(({ id }) => id === 3)).toMatchObject({
    result: { structuredContent: { data: [], summary: { total: 0 } } },
  });
  expect(output()).not.toContain(key);
});

test('it ends with standard input, SIGTERM and SIGINT, also while a tool waits', async () => {
  const { key } = await makeAccount();
  // Takes connections and says nothing: a call is under way for as long as it may.
  const silent = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const address = silent.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  for (const end of ['stdin', 'SIGTERM', 'SIGINT'] as const) {
    const { child, tell, says, stop, ended } = startMcp(key, origin);
    await says(/"id":1/);
    const connected = new Promise((resolve) => silent.once('connection', resolve));
    tell({ jsonrpc: '2.0', method: 'notifications/initialized' });
    tell({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'getFleet', arguments: {} } });
    await connected;
    const asked = Date.now();
    if (end === 'stdin') child.stdin?.end();
    else void stop(end);
    expect(await ended, end).toBe(0);
    expect(Date.now() - asked, end).toBeLessThan(30_000);
  }
  silent.close();
});

test('a missing service is reported; when it is back, the same server continues', async () => {
  const { key } = await makeAccount();
  const environment = { ...inject('sharedStore'), PORT: String(await freePort()) };
  const first = await startService(environment, ['--no-monitor']);
  const { call } = await startAssistant(key, { origin: first.origin });
  expect((await call('getFleet')).isError).toBeUndefined();
  await first.stop('SIGKILL');
  const away = await call('getFleet');
  expect(away.isError).toBe(true);
  expect(textOf(away)).toMatch(/^unreachable: .+\nCall again in a few seconds/);
  const second = await startService(environment, ['--no-monitor']);
  const back = await call('getFleet');
  expect(back.structuredContent, textOf(back)).toMatchObject({ summary: { total: 0 } });
  await second.stop();
});
