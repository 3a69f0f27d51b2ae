// With a pause of half a second 1,500 connections too many cost a process 3,000 refusals a second, not all that it can.
const PAUSE_WHEN_FULL_MS = 500;

/** More requests wait than the store is asked about, of this key or of all: nothing was counted or written. */
export class GateFull extends Error {
  /** For how long to hold the answer back: asking again at once must not take from others the time that a refusal costs. */
  readonly pauseMs: number;

  constructor(message: string, pauseMs = PAUSE_WHEN_FULL_MS) {
    super(message);
    this.pauseMs = pauseMs;
  }
}

/** The request's time was over before the store was asked about it: nothing was counted or written. */
export class Expired extends Error {}
