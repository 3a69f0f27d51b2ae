import { literal } from './server-texts.ts';

/** What to do about a slot that keeps WAL: only people know whether its consumer comes back. */
export function slotSteps(slot: string): string {
  const name = literal(slot);
  return `SELECT slot_name, slot_type, plugin, database, active, wal_status, restart_lsn FROM pg_replication_slots WHERE slot_name = ${name}; -- then start its consumer, or, if that is gone for good, SELECT pg_drop_replication_slot(${name});`;
}
