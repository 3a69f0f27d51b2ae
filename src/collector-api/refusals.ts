import { Rejection } from '../platform/rejection.ts';

// What the requests of collectors are refused with.

const SECOND = { retryAfter: 1 };
export const busy = new Rejection(
  'rate_limited',
  'Too many requests of collectors: try again in a second.',
  SECOND,
);
export const spent = new Rejection(
  'too_many_attempts',
  'Too many failed requests from this address: try again in a minute.',
  {
    retryAfter: 60,
  },
);
export const unsigned = new Rejection(
  'unauthorized',
  'No living collector has signed this request: it may be revoked, or never enrolled here.',
);
export const replayed = new Rejection(
  'unauthorized',
  'This request was sent before, or its collector was just revoked.',
);
export const unknownPath = new Rejection(
  'not_found',
  'Collectors use /collector/enrol, /collector/work, /collector/result, /collector/past, /collector/pulse and /collector/look.',
);
export const postOnly = new Rejection('method_not_allowed', 'Collectors send POST.');
export const noRun = new Rejection(
  'conflict',
  'The collector has no such run: it was stored already, took too long, or its connection was removed.',
);
