import { connect, type Socket } from 'node:net';

/**
 * A keep-alive connection that sends one request at a time and reads only the answer's status and length. A client library
 * would use more CPU than a bare server, on the same cores.
 */
export class Client {
  readonly #socket: Socket;
  #waiting: PromiseWithResolvers<number> | null = null;
  #status = 0;
  /** The bytes of the answer that have not arrived yet. */
  #missing = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection instead of answering')));
  }

  /** Connects to the port on this machine. */
  static async open(port: number): Promise<Client> {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.once('connect', resolve).once('error', reject);
    await promise;
    return new Client(socket);
  }

  /** Sends a complete HTTP/1.1 message and returns the status. Throws when the answer has no Content-Length. */
  async ask(request: string): Promise<number> {
    if (this.#socket.destroyed) throw new Error('the server closed the connection');
    this.#waiting = Promise.withResolvers();
    this.#socket.write(request, 'latin1');
    return this.#waiting.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#missing === 0) {
      // A server writes the head in one call, so it arrives in one piece on loopback.
      const end = chunk.indexOf('\r\n\r\n');
      const head = chunk.toString('latin1', 0, end);
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
      if (end < 0 || length === undefined) {
        this.#fail(new Error('a head came in parts, or without length'));
        return;
      }
      this.#status = Number(head.slice(9, 12));
      this.#missing = end + 4 + Number(length);
    }
    this.#missing -= chunk.length;
    if (this.#missing < 0) this.#fail(new Error('more came than the answer said'));
    if (this.#missing === 0) this.#waiting?.resolve(this.#status);
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#socket.destroy();
  }
}
