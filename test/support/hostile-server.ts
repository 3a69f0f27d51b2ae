import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A TCP server that imitates PostgreSQL or MySQL, or misbehaves. */
export interface HostileServer {
  port: number;
  /** All messages from clients, in order; without `greet` except the first (the startup). */
  heard: Buffer[];
  connections(): number;
  close(): void;
}

/**
 * The answer to a client's message, counted from 0; null = no answer, or the function writes to the socket itself.
 */
export type HostileAnswer = (message: number, socket: Socket, bytes: Buffer) => Buffer | null;

/** Starts a server that answers each client message with `answer`. With `greet` it sends the first message. */
export async function startHostileServer(
  answer: HostileAnswer,
  greet?: (socket: Socket) => Buffer | null,
): Promise<HostileServer> {
  const heard: Buffer[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    let messages = 0;
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (messages > 0 || greet) heard.push(bytes);
      const said = answer(messages++, socket, bytes);
      if (said) socket.write(said);
    });
    const greeting = greet?.(socket);
    if (greeting) socket.write(greeting);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    heard,
    connections: () => connections,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** A message of PostgreSQL's protocol. */
export function message(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** `AuthenticationX` messages: 0 Ok, 3 cleartext password, 5 MD5 password; 10 SASL and 11 its next step, with `more`. */
export function authentication(kind: number, more = Buffer.alloc(kind === 5 ? 4 : 0, 7)): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(kind);
  return message('R', Buffer.concat([head, more]));
}

export const readyForQuery: Buffer = message('Z', Buffer.from('I'));

/** The answer to the first message that lets a client in. */
export const login: Buffer = Buffer.concat([authentication(0), readyForQuery]);

/** Lets a client in, and answers all that it sends then. */
export function afterLogin(answer: HostileAnswer): HostileAnswer {
  return (sent, socket, bytes) => (sent === 0 ? login : answer(sent, socket, bytes));
}

/** Sends bytes as long as the other side reads them. */
export const endless: HostileAnswer = (_sent, socket) => {
  const chunk = Buffer.alloc(65_536, 'x');
  const pump = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', pump);
  pump();
  return null;
};

/** Sends a byte at a time, without end. */
export const drip: HostileAnswer = (_sent, socket) => {
  const timer = setInterval(() => socket.write('N'), 100);
  socket.once('close', () => clearInterval(timer));
  return Buffer.from('N\0');
};
