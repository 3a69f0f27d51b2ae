import { Counter, Gauge, type Registry } from 'prom-client';
import type { CellLabel } from './watched-gauge.ts';

const KEPT = [
  'entries',
  'findings',
  'counters',
  'changes',
  'queries',
  'episodes',
  'load',
  'sign_ins',
  'events',
];
const UNRETAINED = ['seals', 'seal_file', 'key_hours', 'key_reminders', 'measures', 'digests', ...KEPT];

/** Counts what the hourly rounds of a store do. */
export interface RetentionMetrics {
  removed(kept: string, rows: number): void;
  failed(work: string): void;
  ended(): void;
  /** Reports nothing more about the store. */
  forget(): void;
}

/** Creates the metrics of retention. The result gives those of a store; the labels name its cell if there are several. */
export function retentionMetrics(
  registry: Registry,
  labelNames: readonly string[],
): (labels: CellLabel) => RetentionMetrics {
  const registers = [registry];
  const removed = new Counter({
    name: 'dbvitals_retention_rows_total',
    help: 'Expired rows: log entries, counters, changes, hours and texts of queries, blocking episodes, load, ended sign_ins and events (with deliveries) that were removed, and health checks reduced to their score (findings)',
    labelNames: [...labelNames, 'kept'],
    registers,
  });
  const unretained = new Counter({
    name: 'dbvitals_retention_failures_total',
    help: 'Failed parts of rounds of sealing, retention, rolling up or digests: seals, seal_file (also: seals in it are missing or forged), key_hours, key_reminders, measures, digests, entries, findings, counters, changes, queries, episodes, load, sign_ins, events',
    labelNames: [...labelNames, 'work'],
    registers,
  });
  const lastRound = new Gauge({
    name: 'dbvitals_retention_last_round_timestamp_seconds',
    help: 'When the last hourly round of retention ended, even if parts of it failed; 0 before the first',
    labelNames,
    registers,
  });
  return (labels) => {
    for (const kept of KEPT) removed.inc({ ...labels, kept }, 0);
    for (const work of UNRETAINED) unretained.inc({ ...labels, work }, 0);
    lastRound.set(labels, 0);
    return {
      removed: (kept, rows) => removed.inc({ ...labels, kept }, rows),
      failed: (work) => unretained.inc({ ...labels, work }),
      ended: () => lastRound.set(labels, Date.now() / 1_000),
      forget() {
        for (const kept of KEPT) removed.remove({ ...labels, kept });
        for (const work of UNRETAINED) unretained.remove({ ...labels, work });
        lastRound.remove(labels);
      },
    };
  };
}
