import type { Page } from 'playwright-core';
import { keepPicture } from './chromium.ts';

/** Seconds that a practised person takes: the keystroke-level model of Card, Moran and Newell (1980). */
export const PERSON = { think: 1.35, key: 0.28, click: 1.1 + 0.2 };

/** A way through the console in steps, each photographed. */
export class TimedSteps {
  readonly names: string[] = [];
  /** What the service took, and what a person would take. */
  seconds = 0;
  #person = 0;
  readonly #page: Page;
  readonly #way: string;

  constructor(page: Page, way: string) {
    this.#page = page;
    this.#way = way;
  }

  /** Seconds to compare with a limit. Beside other tests only a person's share counts: there a busy machine would decide. */
  get judged(): number {
    return process.env['DBVITALS_TEST_ALONE'] === 'yes' ? this.seconds : this.#person;
  }

  /** `by` = seconds of the person's hands. */
  async take(name: string, by: number, work: () => Promise<unknown>): Promise<void> {
    const from = performance.now();
    await work();
    this.seconds += (performance.now() - from) / 1_000 + PERSON.think + by;
    this.#person += PERSON.think + by;
    this.names.push(name);
    await keepPicture(this.#page, `${this.#way}-${this.names.length}-${name}`);
  }
}
