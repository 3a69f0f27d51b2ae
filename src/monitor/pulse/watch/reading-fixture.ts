import type { PulseReading } from '../reading/pulse-reading.ts';

/** A reading of a server with which nothing is wrong. */
export const CALM: PulseReading = {
  started: 1_000,
  isStandby: false,
  isReplicating: null,
  connections: { used: 10, allowed: 100 },
  room: null,
  lockWaitTimeout: null,
  active: 1,
  idleInTransaction: 0,
  load: [],
  transactions: null,
  replicaLag: null,
  deadlocks: null,
  oldestTransaction: null,
  waits: [],
  shortWaits: 0,
  sessions: [],
  clientsWaiting: null,
};
