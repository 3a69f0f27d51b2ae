import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Message, MessageAnswer, ToolResult } from './message.ts';
import type { FromWorker, ToWorker } from './message-worker.ts';

// An idle thread ends after this time. It takes 60 MB, in use up to 130 MB.
const IDLE_MS = 300_000;
/** How long the thread may take to start, which a busy machine prolongs, and to answer a message: a request of the API takes 2 s. */
const LONGEST_START_MS = 60_000;
const LONGEST_MS = 10_000;

/** Makes the request that an answer needs. */
type ReadUrl = (url: string) => Promise<ToolResult>;

interface Pending {
  readonly read: ReadUrl;
  resolve(answer: MessageAnswer): void;
  reject(error: Error): void;
}

/**
 * Answers messages of assistants in another thread: loading the SDK takes 0.3 s and a message 1 ms, in which this one answers other
 * requests. It starts with the first message.
 */
export class MessageThread {
  #running: RunningThread | null = null;

  /** Starts the thread unless it runs. Null if it can answer. */
  start(): Promise<void> | null {
    const { ready, isReady } = this.#run();
    return isReady ? null : ready;
  }

  /** Answers a message. Throws if the thread ends before. */
  async answer(message: Message, read: ReadUrl): Promise<MessageAnswer> {
    const running = this.#run();
    await running.ready;
    return running.answer(message, read);
  }

  async close(): Promise<void> {
    await this.#running?.end('the service stops');
  }

  #run(): RunningThread {
    if (this.#running === null || this.#running.isEnded) this.#running = new RunningThread();
    return this.#running;
  }
}

class RunningThread {
  /** Rejects if the thread does not start. */
  readonly ready: Promise<void>;
  isReady = false;
  isEnded = false;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor() {
    const path = join(import.meta.dirname, `message-worker${extname(import.meta.filename)}`);
    this.#worker = new Worker(path, { env: {}, resourceLimits: { maxOldGenerationSizeMb: 256 } });
    this.#worker.unref();
    this.#worker.on('message', (received: FromWorker) => void this.#receive(received));
    // Without a listener, an error would end the service.
    this.#worker.on('error', ({ message }) => void this.end(message));
    // The thread's first answer, to no message, says that it can answer.
    this.ready = this.#await(0, async () => ({ failure: '' }), LONGEST_START_MS).then(() => {
      this.isReady = true;
    });
    this.ready.catch(() => {});
  }

  answer(message: Message, read: ReadUrl): Promise<MessageAnswer> {
    this.#lastId += 1;
    const answer = this.#await(this.#lastId, read);
    this.#post({ id: this.#lastId, message });
    return answer;
  }

  async end(reason: string): Promise<void> {
    this.isEnded = true;
    const error = new Error(`The thread that answers assistants ended: ${reason}.`);
    for (const { reject } of [...this.#pending.values()]) reject(error);
    clearTimeout(this.#idle);
    await this.#worker.terminate();
  }

  #await(id: number, read: ReadUrl, longestMs = LONGEST_MS): Promise<MessageAnswer> {
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      // A thread that hangs would answer no other message either.
      const late = setTimeout(() => void this.end('a message took too long'), longestMs);
      const settle = () => {
        clearTimeout(late);
        this.#pending.delete(id);
        if (this.#pending.size > 0 || this.isEnded) return;
        this.#idle = setTimeout(() => void this.end('it was idle'), IDLE_MS).unref();
      };
      this.#pending.set(id, {
        read,
        resolve(answer) {
          settle();
          resolve(answer);
        },
        reject(error) {
          settle();
          reject(error);
        },
      });
    });
  }

  async #receive(received: FromWorker): Promise<void> {
    const pending = this.#pending.get(received.id);
    if (pending === undefined) return;
    if ('url' in received) {
      try {
        this.#post({ id: received.id, result: await pending.read(received.url) });
      } catch (error) {
        // Nobody awaits this: a rejection would end the service. The request fails as others do.
        pending.reject(error instanceof Error ? error : new Error('The request of a message failed.'));
      }
    } else if ('failed' in received)
      pending.reject(new Error(`A message was not answered: ${received.failed}`));
    else pending.resolve(received.answer);
  }

  #post(message: ToWorker): void {
    if (!this.isEnded) this.#worker.postMessage(message);
  }
}
