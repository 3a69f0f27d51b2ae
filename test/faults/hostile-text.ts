import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type Fault, Seen } from './fault.ts';
import { FLEET, get } from './load.ts';
import { onStage } from './stage.ts';

// Texts that start a new line, colour a terminal, end a string, or are not valid text.
const TEXTS: Record<string, string> = {
  'CR LF': 'a\r\n{"level":30,"msg":"forged"}',
  LF: 'a\nforged',
  ANSI: '\u001b[2J\u001b[31mred\u001b[0m',
  'one byte CSI': '\u009b31m',
  NUL: 'a\0b',
  'other controls': '\b\u0007\u000b\u007f',
  'line separators': 'a\u2028b\u2029c\u0085d',
  'right to left': '\u202egnp.exe',
  quotes: `"}'\\`,
  'a lone surrogate': 'a\ud800b',
};

/** Characters that affect a terminal or a line reader. */
const ACTS = /\p{Cc}|[\u2028\u2029]/u;

/** Hostile text in every place that an outsider can write to. */
export const hostileText: Fault = {
  fault: 'hostile text in path, query, User-Agent, names, database messages',
  figure: 'one line a request in the log; entry written; nothing unescaped',
  provoke: () =>
    onStage(
      async (stage) => {
        const { service, key } = stage;
        const ids: string[] = [];
        let unescaped = 0;
        for (const text of Object.values(TEXTS)) {
          for (const bytes of requests(text, key)) {
            const answer = await exchange(service.origin, bytes);
            const [, id = ''] = /^x-request-id: (\S+)\r$/im.exec(answer) ?? [];
            // Invalid HTTP (CR, LF or NUL in a header) is not a request: it gets an answer, but no line in the log.
            if (!/^HTTP\/1\.1 400 Bad Request\r\n/.test(answer)) ids.push(id);
          }
        }
        let refused = 0;
        for (const text of Object.values(TEXTS)) {
          // A process argument can't contain NUL or a lone surrogate.
          if (text.includes('\0') || !text.isWellFormed()) continue;
          const named = ['--account', `${stage.id}`, '--name', text];
          await stage.command('key', 'create', ...named).catch(() => {
            refused += 1;
          });
          const url = ['--url', 'postgres://watcher@127.0.0.1:1/shop'];
          await stage.command('connection', 'add', ...named, ...url).catch(() => {
            refused += 1;
          });
        }
        for (const path of [FLEET, '/api/v1/health/connections', '/api/v1/activity?per_page=100']) {
          const { text } = await get(service.origin + path, key);
          if (ACTS.test(text) || !text.isWellFormed()) unescaped += 1;
        }
        await wait(500); // the log is written asynchronously
        const lines = service.output().split('\n');
        const found = await stage.query('select from activity where request_id = any($1::uuid[])', [ids]);
        const told = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line).request_id);
        return new Seen()
          .atLeast(ids.length, 25, 'requests')
          .none(
            ids.filter((id) => told.filter((one) => one === id).length !== 1).length,
            'without one line each',
          )
          .none(ids.length - found.length, 'without an entry')
          .none(lines.filter((line) => ACTS.test(line)).length, 'lines of the log with what acts')
          .none(lines.filter((line) => line.startsWith('forged')).length, 'forged lines')
          .atLeast(refused, 0, 'names refused by commands')
          .none(unescaped, 'bodies with what acts');
      },
      { LOG_LEVEL: 'info' },
    ),
};

/** The text encoded in a path and in a query, and unchanged in a User-Agent. */
function requests(text: string, key: string): Buffer[] {
  const escaped = text.isWellFormed() ? encodeURIComponent(text) : '%61%ED%A0%80b';
  const raw = text.isWellFormed() ? Buffer.from(text) : Buffer.from([0x61, 0xed, 0xa0, 0x80, 0x62]);
  const request = (path: string, agent: Buffer) =>
    Buffer.concat([
      Buffer.from(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\nUser-Agent: `,
      ),
      agent,
      Buffer.from('\r\n\r\n'),
    ]);
  const plain = Buffer.from('faults');
  return [
    request(`/api/v1/${escaped}`, plain),
    request(`${FLEET}?_=${escaped}`, plain),
    request(`${FLEET}?${escaped}=1`, plain),
    request(FLEET, raw),
  ];
}

function exchange(origin: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(5_000, () => socket.destroy()).setEncoding('utf8');
    socket.on('data', (text) => {
      received += text;
    });
    socket.once('close', () => resolve(received)).once('error', reject);
  });
}
