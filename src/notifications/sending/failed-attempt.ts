import type { SendResult } from './outgoing.ts';

/** An attempt without an answer. `result` is a sentence; `began` is of `performance.now()`. */
export function failedAttempt(result: string, began: number): SendResult {
  return {
    status: null,
    accepted: false,
    result,
    response: '',
    retryAfter: null,
    gone: false,
    milliseconds: Math.round(performance.now() - began),
  };
}
