import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { takeParser } from '../../platform/unsafe/http-parser.ts';

/** How many pipelined requests of all connections start in one turn of the event loop: about 3 ms of work. */
const PER_TURN = 32;

// How often small pieces of a connection are parsed at once in a turn. One turn may last for several requests and answers of
// a busy client, and one TLS read may contain hundreds of records.
const PIECES_PER_TURN = 8;

const END_OF_HEAD = '\r\n\r\n';

// How many bytes are parsed at once. A body may consist of chunks of one byte, each a call: 64 KiB of them take 15 ms.
const LARGEST_PIECE = 4 * 1024;

/** Runs `work` for a connection. Never throws. */
export type Guard = (socket: Socket, work: () => void) => void;

/** Runs the requests of each connection one after the other. */
export interface Pipelining {
  /**
   * Stops reading from a connection after a malformed request. Once the requests before it are answered, calls `then` with
   * whether an answer may still be sent: not if it broke off in the body of an answered request.
   */
  stop(socket: Socket, then: (answerable: boolean) => void): void;
  /** Drops what arrives after the request under way: its answer ends the connection. */
  ignoreRest(socket: Socket): void;
}

interface Connection {
  readonly socket: Socket;
  /** Passes bytes to Node's parser. */
  readonly parse: (bytes: Buffer) => void;
  /** The last request and its answer. Answers are sent in order, so once it is sent, all are. */
  last: { request: IncomingMessage; response: ServerResponse } | null;
  /** The answer before the last one; null = it was sent. */
  before: ServerResponse | null;
  /** The last turn of the event loop that parsed bytes of it, and how often. */
  turn: number;
  pieces: number;
  /** The answer after which bytes that were put back into the socket are parsed. */
  awaited: ServerResponse | null;
  /** Called when all requests are answered; null = still reading. */
  stopped: ((answerable: boolean) => void) | null;
}

function startConnection(socket: Socket, parse: Connection['parse']): Connection {
  return {
    socket,
    parse,
    last: null,
    before: null,
    turn: 0,
    pieces: 0,
    awaited: null,
    stopped: null,
  };
}

/**
 * Parses the next request of a connection only when its last one is answered, as most servers do. Node parses everything that
 * arrived, 64 KiB or thousands of requests, before other connections get a turn. Here pipelined requests stay in the socket,
 * and each turn of the event loop starts {@link PER_TURN} of them, from all connections in rotation. A client that does not
 * read its answers is not read from.
 */
export function limitPipelining(server: Server, guard: Guard): Pipelining {
  const connections = new WeakMap<Socket, Connection>();
  const waiting = new Set<Connection>();
  let turn = 0;
  let isTurnPlanned = false;

  // Added after Node's own listener, because it takes over reading from the socket.
  server.on('secureConnection', take).on('connection', take);
  server.prependListener('request', (request, response) => {
    const connection = connections.get(request.socket);
    if (!connection) return;
    const { last } = connection;
    // One that was sent is let go, or each connection would keep two requests in memory.
    connection.before = last?.response.closed === false ? last.response : null;
    connection.last = { request, response };
  });

  function take(socket: Socket): void {
    const parse = takeParser(socket, (bytes) => receive(connection, bytes));
    if (parse === null) return;
    const connection = startConnection(socket, parse);
    connections.set(socket, connection);
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

  /** Puts bytes back before those that the socket has read meanwhile. */
  function hold(connection: Connection, bytes: Buffer): void {
    const { socket } = connection;
    if (socket.destroyed) return;
    // Already paused: the reader of the body does not keep up, and resumes the socket later.
    const isBodyFull = socket.isPaused();
    socket.pause();
    socket.unshift(bytes);
    if (!isReady(connection)) awaitAnswer(connection);
    else if (!isBodyFull) waitForTurn(connection);
  }

  // Few connections pipeline. A listener for each answer would cost 4 µs of an answer's 50.
  function awaitAnswer(connection: Connection): void {
    const response = connection.last?.response;
    if (response === undefined || response === connection.awaited) return;
    connection.awaited = response;
    response.once('close', () => {
      if (!connection.stopped) waitForTurn(connection);
    });
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
      connection.socket.resume();
    }
    if (waiting.size > 0) planTurn();
  }

  return {
    ignoreRest(socket) {
      const connection = connections.get(socket);
      if (connection) connection.stopped ??= () => {};
    },
    stop(socket, then) {
      const connection = connections.get(socket);
      if (!connection) return then(true);
      connection.stopped = then;
      socket.resume(); // later bytes are dropped
      for (const response of [connection.before, connection.last?.response]) {
        if (response?.closed === false) response.once('close', () => settle(connection));
      }
      settle(connection);
    },
  };
}

/** How many of the bytes may be parsed at once: they complete the headers of at most one request. */
function endOfPiece(bytes: Buffer): number {
  const at = bytes.indexOf(END_OF_HEAD);
  const end = at === -1 ? bytes.length : at + END_OF_HEAD.length;
  return Math.min(end, LARGEST_PIECE);
}

/** Whether the next bytes may be parsed: all requests are answered, or the bytes belong to a body. */
function isReady({ last }: Connection): boolean {
  return last === null || last.response.closed || !last.request.complete;
}

/** Calls back for a stopped connection once all requests before are answered. */
function settle(connection: Connection): void {
  const { last, before, stopped } = connection;
  const isBroken = last?.request.complete === false;
  const isAnswered = isBroken && last.response.headersSent;
  const awaited = isBroken && !isAnswered ? before : last?.response;
  if (awaited?.closed === false) return;
  connection.stopped = () => {};
  stopped?.(!isAnswered);
}
