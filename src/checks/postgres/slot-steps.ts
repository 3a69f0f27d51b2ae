/** What to do about a slot that keeps WAL: only people know whether its consumer comes back. Names of slots need no escape. */
export function slotSteps(slot: string): string {
  return `SELECT slot_name, slot_type, plugin, database, active, wal_status, restart_lsn FROM pg_replication_slots WHERE slot_name = '${slot}'; -- then start its consumer, or, if that is gone for good, SELECT pg_drop_replication_slot('${slot}');`;
}
