import type { PulseAnswer } from './held-session.ts';

/** The second look at a server that did not answer, and all further ones. */
const AGAIN_MS = 5_000;

const CLOSE_MS = 1_000;

/** From a short wait to the look that sees whether it goes on: it makes an episode after two seconds. */
const SECOND_LOOK_MS = 2_250;

/** The longest pause after pulses that gave nothing. */
const LONGEST_MS = 600_000;

/** The longest pause for a server that answers, but not what was asked: that may be a statement that took too long, in an incident. */
const UNREAD_MS = 60_000;

/** How the last pulse went. */
export interface PulseOutcome {
  /** `lost` = the child was lost with it. */
  kind: 'reading' | 'lost' | Extract<PulseAnswer, { failure: unknown }>['failure']['kind'];
  /** How many pulses in a row went so. */
  times: number;
  /** It has a close look. */
  isClose: boolean;
  /** It saw a wait that had just begun, and was no second look itself. */
  needsSecondLook: boolean;
  /** It was such a second look. */
  isSecondLook: boolean;
}

/** Before the first pulse. */
export const NO_OUTCOME: PulseOutcome = {
  kind: 'reading',
  times: 0,
  isClose: false,
  needsSecondLook: false,
  isSecondLook: false,
};

/** The outcome of a pulse after that of the one before. A second look is followed by none, so a server with many short waits has twice the pulses at most. */
export function nextOutcome(
  before: PulseOutcome,
  { kind, isClose, hasShortWait }: Pick<PulseOutcome, 'kind' | 'isClose'> & { hasShortWait: boolean },
): PulseOutcome {
  const isSecondLook = before.needsSecondLook && !before.isClose;
  return {
    kind,
    times: before.kind === kind ? before.times + 1 : 0,
    isClose,
    needsSecondLook: hasShortWait && !isSecondLook,
    isSecondLook,
  };
}

/** Milliseconds from the begin of a pulse to the next one; `everyMs` is the setting of the connection. */
export function nextPulse(
  { kind, times, isClose, needsSecondLook, isSecondLook }: PulseOutcome,
  everyMs: number,
): number {
  const pause = (first: number, longest: number) => Math.min(longest, first * 2 ** Math.min(times, 10));
  switch (kind) {
    case 'reading':
    case 'saturated':
      if (isClose) return Math.min(CLOSE_MS, everyMs);
      if (needsSecondLook) return Math.min(SECOND_LOOK_MS, everyMs);
      return isSecondLook ? Math.max(CLOSE_MS, everyMs - SECOND_LOOK_MS) : everyMs;
    case 'unreachable':
      return Math.min(AGAIN_MS, everyMs);
    case 'unread':
      return pause(Math.min(isClose ? CLOSE_MS : AGAIN_MS, everyMs), UNREAD_MS);
    // Servers lock a login, or a host, after some refusals.
    case 'unauthorized':
    case 'no_room':
    case 'lost':
      return pause(Math.max(everyMs, AGAIN_MS), LONGEST_MS);
  }
}
