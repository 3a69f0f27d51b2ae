import { literal } from './server-texts.ts';

function lookAt(name: string): string {
  return `SELECT slot_name, slot_type, plugin, database, active, wal_status, restart_lsn FROM pg_replication_slots WHERE slot_name = ${name};`;
}

/** What to do about a slot that keeps WAL: only people know whether its consumer comes back. */
export function slotSteps(slot: string): string {
  const name = literal(slot);
  return `${lookAt(name)} -- then start its consumer, or, if that is gone for good, SELECT pg_drop_replication_slot(${name});`;
}

/** What to do about a slot that can't be used again. */
export function lostSlotSteps(slot: string): string {
  const name = literal(slot);
  return `${lookAt(name)} -- no consumer can use it again: SELECT pg_drop_replication_slot(${name}); then make its consumer anew, with a new base backup or a new subscription`;
}
