import { expect, test } from 'vitest';
import { type HeldBatch, SLOW_MS, streamRoom } from './stream-room.ts';

const MIB = 1_048_576;
const NOW = 100_000;

const batches = (count: number, given: Partial<HeldBatch> = {}): HeldBatch[] =>
  Array.from({ length: count }, (_, destinationId) => ({
    accountId: 1,
    destinationId,
    isTroubled: false,
    since: NOW,
    bytes: MIB,
    ...given,
  }));

test('a process may hold 48 full batches, 24 of them of streams in trouble', () => {
  expect(streamRoom([], NOW)).toMatchObject({ all: 48, troubled: 24 });
  expect(streamRoom(batches(3), NOW)).toMatchObject({ all: 45, troubled: 24, busy: [0, 1, 2] });
});

test('all 20 streams of an account can hang with full batches, and others have room', () => {
  const held = batches(20, { isTroubled: true });
  expect(streamRoom(held, NOW)).toMatchObject({ all: 28, troubled: 4, accounts: new Map([[1, 20]]) });
});

test('a batch whose answer takes longer than two seconds is in trouble from then on', () => {
  const held = batches(8, { since: NOW - SLOW_MS - 1 });
  expect(streamRoom(held, NOW - 1).troubled).toBe(24);
  expect(streamRoom(held, NOW).troubled).toBe(16);
});

test('small batches take little room, and one that is not read yet that of a full one', () => {
  expect(streamRoom(batches(80, { bytes: 900, isTroubled: true }), NOW)).toMatchObject({
    all: 38,
    troubled: 14,
  });
  expect(streamRoom(batches(2, { bytes: null }), NOW).all).toBe(46);
});

test('there is never less than no room', () => {
  expect(streamRoom(batches(50, { isTroubled: true }), NOW)).toMatchObject({ all: 0, troubled: 0 });
});
