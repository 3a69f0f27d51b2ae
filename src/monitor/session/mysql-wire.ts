import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, checkServerIdentity, connect, type TLSSocket } from 'node:tls';
import type mysql from 'mysql2';

/** What a MySQL server may send, beyond what the meter allows: more serves only to fill our memory. */
const MOST = {
  /** Bytes of one packet. `group_concat_max_len` is 1 MiB. */
  packet: 4 * 1024 * 1024,
  /** Columns of an answer. MariaDB's "show all slaves status" has some 70. */
  columns: 100,
  /**
   * Values of an answer, and one more for each packet. One takes 2 bytes on the wire and up to 130 here: so many were 38 MiB in
   * rows of one, 75 MiB in rows of 100, and a child has 128. Of 20,000 tables some 90,000 columns are in indexes.
   */
  values: 600_000,
  /** The same of a login. */
  login: 100,
};

const ERROR = 0xff;

// mysql2 answers it by `infileStreamFactory`.
const LOCAL_INFILE = 0xfb;

interface Packet {
  sequenceId: number;
  buffer: Buffer;
  offset: number;
  end: number;
}

interface Parser {
  /** Of the packet that is coming in. */
  length: number;
  execute(bytes: Buffer): void;
  constructor: new (onPacket: (packet: Packet) => void) => Parser;
}

/** What is inside a connection of mysql2 3.24, and must be there for us to hold it to what follows. */
interface Inside {
  stream: Duplex;
  packetParser: Parser;
  handlePacket(packet?: Packet): void;
  startTLS(onSecure: (error?: Error) => void): void;
  _handleNetworkError(error: Error): void;
}

export type Wired = mysql.Connection & Inside;

/** Throws where mysql2 was changed so that it can't be watched. */
export function assertWired(connection: mysql.Connection): asserts connection is Wired {
  const needed = ['stream', 'packetParser', 'handlePacket', 'startTLS', '_handleNetworkError', 'sequenceId'];
  const missing = needed.filter((name) => !(name in connection));
  if (missing.length > 0) throw new Error(`mysql2 has no ${missing.join(', ')} any more`);
}

/**
 * Judges each packet before mysql2 sees it, and throws into the stream's listener what is wrong with it: mysql2 goes on
 * after a wrong sequence number, and keeps as many columns and rows as it is sent. Gives what is to be called before each
 * statement.
 */
export function watchPackets(connection: Wired): () => void {
  let values = 0;
  let allowed = MOST.login;
  let columns = 1;
  let first = false;
  const handle = connection.handlePacket.bind(connection);
  connection.handlePacket = (packet) => {
    if (connection.stream.destroyed) return; // by what came before in the same chunk
    if (packet) {
      const kind = packet.end > packet.offset ? (packet.buffer[packet.offset] ?? 0) : null;
      if (kind === null) throw new Error('the server sent an empty packet');
      // An error ends what it answers, whatever its number: so does one that says why the server hangs up.
      if (kind !== ERROR && packet.sequenceId !== connection.sequenceId)
        throw new Error('the server sent a packet out of order');
      if (first && kind !== ERROR && kind !== LOCAL_INFILE) {
        if (kind > MOST.columns) throw new Error('the server sent too many columns');
        columns = Math.max(1, kind);
      }
      first = false;
      values += 1 + columns;
      if (values > allowed) throw new Error('the server sent too much');
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

/** Has the bytes of a stream judged after mysql2 saw them: a packet as long as it says it is may never be whole. */
export function watchLength(connection: Wired, stream: Duplex): void {
  stream.on('data', () => {
    if (connection.packetParser.length > MOST.packet) throw new Error('the server sent too long a packet');
  });
}

/**
 * Speaks TLS where mysql2 would: it checks the certificate of an address against "localhost", hides why one is refused,
 * and believes what was sent before TLS began. `secured` is given the stream before anything came by it.
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
      throw new Error('the server spoke before TLS began');
    };
    const secure = connect({
      ...options,
      socket: plain,
      servername: isIP(host) === 0 ? host : '',
      checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
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
