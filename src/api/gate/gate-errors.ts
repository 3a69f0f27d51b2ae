// With a pause of half a second, 1,500 excess connections cost a process 3,000 rejections a second instead of all its time.
const PAUSE_WHEN_FULL_MS = 500;

/** Too many requests of all keys wait for the store. Nothing was counted or written. */
export class GateFull extends Error {
  /** How long to delay the answer, in milliseconds, so that instant retries do not take time from other clients. */
  readonly pauseMs = PAUSE_WHEN_FULL_MS;
}

/** The request missed its deadline before its batch was sent. Nothing was counted or written. */
export class Expired extends Error {}

/**
 * The account's log is not open in this store: the account is being moved to another cell, or lives there. Nothing was counted
 * or written.
 */
export class AccountAway extends Error {}
