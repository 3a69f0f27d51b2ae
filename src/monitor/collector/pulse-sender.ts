import { setTimeout as wait } from 'node:timers/promises';
import type { PulseEvent } from '../collected/store-pulse.ts';
import { ServiceRefused } from './call-service.ts';

interface Waiting {
  event: PulseEvent;
  resolve(): void;
  reject(error: unknown): void;
}

/** What a delivery waits for others of the same instant. */
const GATHER_MS = 100;
/** Between a delivery that failed and the next one. */
const AGAIN_MS = 5_000;

const MOST_EVENTS = 200;
const MOST_BYTES = 2 * 1024 * 1024;
/** The most that wait: events are sent again by their pulses, and the oldest minutes of load make room. */
const MOST_WAITING = 2_000;
const MOST_MINUTES = 5_000;

/** Sends what pulses see, many at a time: a request for each of 500 connections would be 500 signatures a minute. */
export class PulseSender {
  readonly #deliver: (events: PulseEvent[]) => Promise<void>;
  readonly #until: AbortSignal;
  #waiting: Waiting[] = [];
  #minutes: PulseEvent[] = [];
  #sending: Promise<void> | null = null;

  constructor(deliver: (events: PulseEvent[]) => Promise<void>, until: AbortSignal) {
    this.#deliver = deliver;
    this.#until = until;
  }

  /** Sends an event. Resolves when the service has it; rejects if it has not, and then the event is not sent again. */
  send(event: PulseEvent): Promise<void> {
    if (this.#waiting.length >= MOST_WAITING) return Promise.reject(new Error('too many events wait'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject });
      this.#start();
    });
  }

  /** Sends an event now or later: it waits for as long as the service is away. */
  keep(event: PulseEvent): void {
    this.#minutes.push(event);
    if (this.#minutes.length > MOST_MINUTES) this.#minutes.shift();
    this.#start();
  }

  #start(): void {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null;
    });
  }

  async #send(): Promise<void> {
    await this.#pause(GATHER_MS);
    while (!this.#until.aborted && this.#waiting.length + this.#minutes.length > 0) {
      const { waiting, minutes } = this.#take();
      try {
        await this.#deliver([...waiting.map(({ event }) => event), ...minutes]);
        for (const { resolve } of waiting) resolve();
      } catch (error) {
        for (const { reject } of waiting) reject(error);
        const isFinal = error instanceof ServiceRefused && error.status !== 429;
        if (!isFinal) this.#minutes = [...minutes, ...this.#minutes].slice(-MOST_MINUTES);
        await this.#pause(AGAIN_MS);
      }
    }
  }

  #take(): { waiting: Waiting[]; minutes: PulseEvent[] } {
    const waiting: Waiting[] = [];
    const minutes: PulseEvent[] = [];
    let bytes = 0;
    const fits = (event: PulseEvent) => {
      bytes += Buffer.byteLength(JSON.stringify(event));
      const taken = waiting.length + minutes.length;
      return taken === 0 || (taken < MOST_EVENTS && bytes <= MOST_BYTES);
    };
    for (let [next] = this.#waiting; next && fits(next.event); [next] = this.#waiting) {
      waiting.push(next);
      this.#waiting.shift();
    }
    for (let [next] = this.#minutes; next && fits(next); [next] = this.#minutes) {
      minutes.push(next);
      this.#minutes.shift();
    }
    return { waiting, minutes };
  }

  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#until }).catch(() => {});
  }
}
