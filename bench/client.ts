import { connect, type Socket } from 'node:net';

/**
 * A keep-alive connection that asks one thing at a time, and reads no more of an answer than its status and length: a
 * client library would take more of the cores that it shares with the server than a bare server does.
 */
export class Client {
  readonly #socket: Socket;
  #waiting: PromiseWithResolvers<number> | null = null;
  #status = 0;
  /** Bytes of the answer that have not come yet. */
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

  /** Sends a whole HTTP/1.1 message and gives the answer's status; throws when the answer is not framed by its length. */
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
      // A server writes a head at once, so it comes in one piece on loopback.
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
