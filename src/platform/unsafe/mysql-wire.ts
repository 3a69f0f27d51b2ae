import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, checkServerIdentity, connect, type TLSSocket } from 'node:tls';
import type mysql from 'mysql2';
import { OwnWords } from '../text/own-words.ts';

/** Limits for what a MySQL server may send, besides the meter's: a larger answer could only exhaust memory. */
const MOST = {
  /** Bytes of one packet. `group_concat_max_len` is 1 MiB. */
  packet: 4 * 1024 * 1024,
  /** Columns of a result. MariaDB's "show all slaves status" has about 70. */
  columns: 100,
  /**
   * Values of a result, plus one per packet. A value takes 2 bytes on the wire and up to 130 in memory. Measured:
   * this limit takes 38 MiB in rows of one value and 75 MiB in rows of 100; a child has 128. 20,000 tables have about
   * 90,000 indexed columns.
   */
  values: 600_000,
  /** The same for a login. */
  login: 100,
};

const ERROR = 0xff;

// mysql2 handles it with `infileStreamFactory`.
const LOCAL_INFILE = 0xfb;

interface Packet {
  sequenceId: number;
  buffer: Buffer;
  offset: number;
  end: number;
}

interface Parser {
  /** Length of the incoming packet. */
  length: number;
  execute(bytes: Buffer): void;
  constructor: new (onPacket: (packet: Packet) => void) => Parser;
}

/** Internals of a mysql2 3.24 connection that the limits below need. */
interface Inside {
  stream: Duplex;
  packetParser: Parser;
  handlePacket(packet?: Packet): void;
  startTLS(onSecure: (error?: Error) => void): void;
  _handleNetworkError(error: Error): void;
}

export type Wired = mysql.Connection & Inside;

/**
 * Throws if this mysql2 lacks the internals. There is no plain way: a hostile server could then exhaust memory, speak before TLS
 * begins, and show a certificate of another host (docs/decisions/0027), so nothing is measured instead.
 */
export function assertWired(connection: mysql.Connection): asserts connection is Wired {
  const needed = ['stream', 'packetParser', 'handlePacket', 'startTLS', '_handleNetworkError', 'sequenceId'];
  const missing = needed.filter((name) => !(name in connection));
  if (missing.length > 0) throw new Error(`mysql2 no longer has ${missing.join(', ')}`);
}

/**
 * Checks each packet before mysql2 sees it, and throws in the stream's listener if it is wrong. mysql2 itself
 * continues after a wrong sequence number, and keeps any number of columns and rows. Returns a function to call
 * before each statement.
 */
export function watchPackets(connection: Wired): () => void {
  let values = 0;
  let allowed = MOST.login;
  let columns = 1;
  let first = false;
  const handle = connection.handlePacket.bind(connection);
  connection.handlePacket = (packet) => {
    if (connection.stream.destroyed) return; // by an earlier packet of the same chunk
    if (packet) {
      const kind = packet.end > packet.offset ? (packet.buffer[packet.offset] ?? 0) : null;
      if (kind === null) throw new OwnWords('the server sent an empty packet');
      // An error packet ends the answer whatever its number, for example when the server says why it disconnects.
      if (kind !== ERROR && packet.sequenceId !== connection.sequenceId)
        throw new OwnWords('the server sent a packet out of order');
      if (first && kind !== ERROR && kind !== LOCAL_INFILE) {
        if (kind > MOST.columns) throw new OwnWords('the server sent too many columns');
        columns = Math.max(1, kind);
      }
      first = false;
      values += 1 + columns;
      if (values > allowed) throw new OwnWords('the server sent too much');
    }
    handle(packet);
  };
  return () => {
    first = true;
    values = 0;
    columns = 1;
    allowed = MOST.values;
  };
}

/**
 * Limits the announced length of a packet, after mysql2 has read it: a packet that is too long might never be
 * complete.
 */
export function watchLength(connection: Wired, stream: Duplex): void {
  stream.on('data', () => {
    if (connection.packetParser.length > MOST.packet) throw new OwnWords('the server sent too long a packet');
  });
}

/**
 * Replaces mysql2's own TLS, which checks the certificate of an IP address against "localhost", hides why a
 * certificate is rejected, and accepts data sent before TLS began. Calls `secured` with the stream before any data
 * arrives.
 */
export function speakTls(
  connection: Wired,
  host: string,
  options: ConnectionOptions,
  secured: (stream: TLSSocket) => void,
): void {
  connection.startTLS = (onSecure) => {
    const plain = connection.stream;
    const handle = connection.handlePacket;
    plain.removeAllListeners('data');
    const { constructor: PacketParser } = connection.packetParser;
    connection.packetParser = new PacketParser((packet) => connection.handlePacket(packet));
    connection.handlePacket = () => {
      throw new OwnWords('the server spoke before TLS began');
    };
    const secure = connect({
      checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
      ...options,
      socket: plain,
      servername: isIP(host) === 0 ? host : '',
    });
    secured(secure);
    secure.on('error', (error) => connection._handleNetworkError(error));
    secure.on('data', (bytes) => connection.packetParser.execute(bytes));
    watchLength(connection, secure);
    secure.once('secureConnect', () => {
      connection.handlePacket = handle;
      onSecure();
    });
    connection.stream = secure;
  };
}
