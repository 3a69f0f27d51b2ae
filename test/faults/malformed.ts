import { connect } from 'node:net';
import { type Fault, Seen } from './fault.ts';
import { FLEET, get } from './load.ts';
import { onStage } from './stage.ts';

// A server that treats the end of such a message as a separate request allows request smuggling. The log would show it.
const SMUGGLED = '/api/v1/smuggled';

/** The wait for more answers, in milliseconds. */
const QUIET_MS = 1_200;

/** Messages that are invalid HTTP, or that two parsers could read differently. `key` is valid. */
function messages(key: string): Record<string, string | Buffer> {
  const authorization = `Authorization: Bearer ${key}`;
  const smuggled = `GET ${SMUGGLED} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`;
  const post = (headers: string[], body: string) =>
    `${[`POST ${FLEET} HTTP/1.1`, 'Host: x', authorization, ...headers].join('\r\n')}\r\n\r\n${body}`;
  const chunked = (transfer: string) => post([transfer, `Content-Length: 5`], `0\r\n\r\n${smuggled}`);
  const get = (line: string, ...headers: string[]) => `${[line, ...headers].join('\r\n')}\r\n\r\n`;
  return {
    'CL and TE': chunked('Transfer-Encoding: chunked'),
    'TE and CL': post(
      ['Content-Length: 4', 'Transfer-Encoding: chunked'],
      `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
    ),
    'TE twice': post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], `0\r\n\r\n${smuggled}`),
    'TE unknown last': post(['Transfer-Encoding: chunked, x'], `0\r\n\r\n${smuggled}`),
    'TE unknown': post(['Transfer-Encoding: xchunked'], `0\r\n\r\n${smuggled}`),
    'TE with a blank before its colon': chunked('Transfer-Encoding : chunked'),
    'TE after a tab': chunked('\tTransfer-Encoding: chunked'),
    'TE with a vertical tab': chunked('Transfer-Encoding:\u000bchunked'),
    'TE folded': chunked('X-A: b\r\n Transfer-Encoding: chunked'),
    'TE after a bare LF': chunked('X-A: b\nTransfer-Encoding: chunked'),
    'TE after a bare CR': chunked('X-A: b\rTransfer-Encoding: chunked'),
    'TE of HTTP/1.0': post(
      ['Transfer-Encoding: chunked', 'Content-Length: 5'],
      `0\r\n\r\n${smuggled}`,
    ).replace('HTTP/1.1', 'HTTP/1.0'),
    'CL with a sign': post(['Content-Length: +5'], `hello${smuggled}`),
    'CL below 0': post(['Content-Length: -1'], smuggled),
    'CL in hexadecimal': post(['Content-Length: 0x5'], `hello${smuggled}`),
    'CL as a list': post(['Content-Length: 5, 5'], `hello${smuggled}`),
    'CL twice, alike': post(['Content-Length: 5', 'Content-Length: 5'], `hello${smuggled}`),
    'CL twice, different': post(['Content-Length: 5', 'Content-Length: 0'], smuggled),
    'CL beyond 64 bits': post(['Content-Length: 18446744073709551616'], smuggled),
    'a chunk size below 0': post(['Transfer-Encoding: chunked'], `-1\r\n${smuggled}`),
    'a chunk size beyond 64 bits': post(['Transfer-Encoding: chunked'], `10000000000000000\r\n${smuggled}`),
    'a chunk longer than it says': post(['Transfer-Encoding: chunked'], `1\r\nab${smuggled}`),
    'a chunk extension with a bare LF': post(['Transfer-Encoding: chunked'], `0;a\n\r\n${smuggled}`),
    'bare LFs': `GET ${FLEET} HTTP/1.1\nHost: x\n${authorization}\n\n`,
    'not HTTP at all': 'GARBAGE\r\n\r\n',
    'a line cut short': 'GET\r\n\r\n',
    'HTTP/0.9': `GET ${FLEET}\r\n\r\n`,
    'HTTP/9.9': get(`GET ${FLEET} HTTP/9.9`, 'Host: x'),
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'a greeting of TLS': Buffer.from('1603010200010001fc0303', 'hex'),
    CONNECT: get('CONNECT x:443 HTTP/1.1', 'Host: x:443'),
    'no Host': get(`GET ${FLEET} HTTP/1.1`, authorization, 'Connection: close'),
    'two Hosts': get(`GET ${FLEET} HTTP/1.1`, 'Host: a', 'Host: b', authorization, 'Connection: close'),
    'a Host with a path': get(`GET ${FLEET} HTTP/1.1`, 'Host: a/b', authorization, 'Connection: close'),
    'a long URL': get(`GET ${FLEET}?_=${'x'.repeat(9_000)} HTTP/1.1`, 'Host: x', 'Connection: close'),
    'a URL past all': get(`GET ${FLEET}?_=${'x'.repeat(90_000)} HTTP/1.1`, 'Host: x'),
    'huge headers': get(`GET ${FLEET} HTTP/1.1`, 'Host: x', `X-A: ${'x'.repeat(90_000)}`),
    '3,000 headers': get(`GET ${FLEET} HTTP/1.1`, 'Host: x', ...Array(3_000).fill('x-a: 12345678')),
    'a header without a name': get(`GET ${FLEET} HTTP/1.1`, 'Host: x', ': a'),
    'NUL in a header': get(`GET ${FLEET} HTTP/1.1`, 'Host: x', 'X-A: a\0b'),
    'bad percent': get('GET /api/v1/%zz HTTP/1.1', 'Host: x', authorization, 'Connection: close'),
    'a percent cut short': get('GET /api/v1/% HTTP/1.1', 'Host: x', authorization, 'Connection: close'),
  };
}

/** Each message gets one 4xx answer in the envelope, and the hidden request is not executed. */
export const malformed: Fault = {
  fault: 'malformed HTTP, long URL, huge headers, CL+TE, bad percent, no Host (raw sockets)',
  figure: '4xx in the envelope; 0 crashes; one response each',
  provoke: () =>
    onStage(async (stage) => {
      const seen = new Seen();
      const all = Object.entries(messages(stage.key));
      const wrong: string[] = [];
      for (const [name, bytes] of all) {
        const answers = (await exchange(stage.service.origin, bytes)).split(/(?=HTTP\/1\.1 \d{3} )/);
        const inOrder = answers.filter((answer) =>
          /^HTTP\/1\.1 4\d\d .*^x-ratelimit-remaining: \d+\r$.*\r\n\r\n\{"error":\{"code":"\w+","message":"/ims.test(
            answer,
          ),
        );
        // A complete message before the error gets its own answer, and the connection is closed too.
        if (answers.length !== 1 || inOrder.length !== 1)
          wrong.push(`${name}: ${answers.join('|').slice(0, 80)}`);
      }
      const text = `select from activity where page_path like '%smuggled%'`;
      const { status } = await get(stage.service.origin + FLEET, stage.key);
      return seen
        .atLeast(all.length, 40, 'messages')
        .none(wrong.length, `otherwise answered${wrong.map((line) => ` (${line})`).join('')}`)
        .none((await stage.query(text)).length, 'smuggled')
        .holds('serves on', status === 200);
    }),
};

function exchange(origin: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const finish = () => {
      socket.destroy();
      resolve(received);
    };
    socket.setTimeout(QUIET_MS, finish).setEncoding('latin1');
    socket.on('data', (text) => {
      received += text;
    });
    socket.once('end', finish).once('error', finish);
  });
}
