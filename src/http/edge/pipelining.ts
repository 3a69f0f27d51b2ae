import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests sent ahead that one turn of the event loop begins, of all connections together: about 3 ms of work. */
const PER_TURN = 32;

// What comes piece by piece is parsed at once, so often for a connection in a turn: one turn may last for several requests and
// answers of a busy client, and one read of TLS may hold hundreds of records.
const PIECES_PER_TURN = 8;

const END_OF_HEAD = '\r\n\r\n';

// What is parsed at once, in bytes. A body may come in chunks of one byte, each a call: 64 KiB of them take 15 ms.
const LARGEST_PIECE = 4 * 1024;

/** Runs `work` for a connection, and never throws. */
export type Guard = (socket: Socket, work: () => void) => void;

/** Requests of the connections of a server, one after the other on each. */
export interface Pipelining {
  /**
   * Reads nothing more of a connection, because what came is no request. Calls `then` once the requests before it are
   * answered, with whether an answer may still be sent: not where it broke off in the body of an answered request.
   */
  stop(socket: Socket, then: (answerable: boolean) => void): void;
}

interface Connection {
  readonly socket: Socket;
  /** Hands bytes to Node's parser. */
  readonly parse: (bytes: Buffer) => void;
  /** Answers that are not out yet. */
  readonly open: Set<ServerResponse>;
  /** The request that came last, and its answer. */
  last: { request: IncomingMessage; response: ServerResponse } | null;
  /** The turn of the event loop in which it last got something parsed, and how often then. */
  turn: number;
  pieces: number;
  /** Whether bytes were put back into the socket, to be read again later. */
  held: boolean;
  /** Called when all is answered; null until nothing more is read. */
  stopped: ((answerable: boolean) => void) | null;
}

/**
 * Has each connection get its next request parsed when its last one is answered, as most servers do. Node parses all that
 * came at once, 64 KiB or thousands of requests, before anybody else gets a turn. Here other connections come first: what was sent ahead
 * stays in the socket, and {@link PER_TURN} of all such requests are taken up in each turn of the event loop, by turns.
 * Who does not take the answers is read no further.
 */
export function limitPipelining(server: Server, guard: Guard): Pipelining {
  const connections = new WeakMap<Socket, Connection>();
  const waiting = new Set<Connection>();
  let turn = 0;
  let isTurnPlanned = false;

  // Added after Node's own listener, whose reading of the socket it takes over.
  server.on('secureConnection', take).on('connection', take);
  server.prependListener('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (!connection) return;
    connection.last = { request, response };
    connection.open.add(response);
    response.once('close', () => {
      connection.open.delete(response);
      if (connection.stopped) settle(connection);
      else if (connection.held && isReady(connection)) waitForTurn(connection);
    });
  });

  function take(socket: Socket): void {
    // Of a connection with TLS these are the encrypted bytes: it has no parser yet.
    const [parse] = socket.listeners('data');
    if (parse === undefined) return;
    const connection: Connection = {
      ...{
        socket,
        open: new Set<ServerResponse>(),
        last: null,
        turn: 0,
        pieces: 0,
        held: false,
        stopped: null,
      },
      parse: (bytes) => parse(bytes),
    };
    connections.set(socket, connection);
    socket.removeAllListeners('data').on('data', (bytes: Buffer) => receive(connection, bytes));
  }

  function receive(connection: Connection, bytes: Buffer): void {
    if (connection.stopped) return;
    if (connection.turn < turn) {
      connection.turn = turn;
      connection.pieces = 0;
    }
    if (!isReady(connection) || waiting.has(connection) || connection.pieces === PIECES_PER_TURN) {
      hold(connection, bytes);
      return;
    }
    connection.pieces += 1;
    planTurn();
    const end = endOfPiece(bytes);
    const isAll = end === bytes.length;
    guard(connection.socket, () => connection.parse(isAll ? bytes : bytes.subarray(0, end)));
    if (!isAll && !connection.stopped) hold(connection, bytes.subarray(end));
  }

  /** Puts bytes back, in front of what the socket has read meanwhile. */
  function hold(connection: Connection, bytes: Buffer): void {
    const { socket } = connection;
    if (socket.destroyed) return;
    // Paused already: whoever reads the body does not keep up, and resumes the socket later.
    const isBodyFull = socket.isPaused();
    socket.pause();
    socket.unshift(bytes);
    connection.held = true;
    if (isReady(connection) && !isBodyFull) waitForTurn(connection);
  }

  function waitForTurn(connection: Connection): void {
    waiting.add(connection);
    planTurn();
  }

  function planTurn(): void {
    if (isTurnPlanned) return;
    isTurnPlanned = true;
    setImmediate(nextTurn);
  }

  function nextTurn(): void {
    isTurnPlanned = false;
    turn += 1;
    let left = PER_TURN;
    for (const connection of waiting) {
      if (left === 0) break;
      left -= 1;
      waiting.delete(connection);
      connection.held = false;
      connection.socket.resume();
    }
    if (waiting.size > 0) planTurn();
  }

  return {
    stop(socket, then) {
      const connection = connections.get(socket);
      if (!connection) return then(true);
      connection.stopped = then;
      socket.resume(); // what comes is dropped
      settle(connection);
    },
  };
}

/** Up to where bytes may be parsed at once: they end one request's headers at most. */
function endOfPiece(bytes: Buffer): number {
  const at = bytes.indexOf(END_OF_HEAD);
  const end = at === -1 ? bytes.length : at + END_OF_HEAD.length;
  return Math.min(end, LARGEST_PIECE);
}

/** Whether the next bytes may be parsed: all is answered, or they are of a body. */
function isReady({ open, last }: Connection): boolean {
  return open.size === 0 || last?.request.complete === false;
}

/** Calls back a connection that was stopped, once all that came before is answered. */
function settle(connection: Connection): void {
  const { open, last, stopped } = connection;
  const broken = last?.request.complete === false ? last.response : null;
  const isAnswered = broken?.headersSent ?? false;
  const before = broken !== null && !isAnswered && open.has(broken) ? open.size - 1 : open.size;
  if (before > 0) return;
  connection.stopped = () => {};
  stopped?.(!isAnswered);
}
