import type { IncomingMessage, ServerResponse } from 'node:http';
import { ignoreBody, LARGEST_BODY } from './edge.ts';

/** The body of a request, read only if somebody asks for it, because it stays in memory. */
export class RequestBody {
  readonly #request: IncomingMessage;
  readonly #ignore: () => void;
  #isTaken = false;

  /** `ignoreRest` drops what arrives after the request. */
  constructor(request: IncomingMessage, response: ServerResponse, ignoreRest: () => void) {
    this.#request = request;
    this.#ignore = () => ignoreBody(request, response, ignoreRest);
  }

  /** Ignores the body, unless it was read. Call it before the answer is sent. */
  ignore(): void {
    if (this.#isTaken) return;
    this.#isTaken = true;
    this.#ignore();
  }

  /**
   * Reads the body. Null = it is too large, and the answer will close the connection. Undefined = it broke off. A slow one is
   * bounded by the server's time for a request.
   */
  read(): Promise<Buffer | null | undefined> {
    const request = this.#request;
    return new Promise((resolve) => {
      if (request.destroyed) return resolve(undefined); // it tells no listener that comes now
      const chunks: Buffer[] = [];
      let received = 0;
      request.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received <= LARGEST_BODY) chunks.push(chunk);
        else resolve(null);
      });
      request.once('end', () => resolve(Buffer.concat(chunks)));
      request.once('close', () => resolve(undefined));
      // Counts the body, and closes the connection of one that is too large.
      this.ignore();
      if (Number(request.headers['content-length']) > LARGEST_BODY) resolve(null);
    });
  }
}
