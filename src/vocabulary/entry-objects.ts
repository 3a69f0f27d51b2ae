/** The kinds of objects that log entries are about, with the property that has the object's id. */
export const ENTRY_OBJECTS = {
  connection: 'connection_id',
  ticket: 'ticket_id',
  alert: 'alert_id',
  alert_rule: 'rule_id',
  destination: 'destination_id',
  maintenance: 'maintenance_id',
  silence: 'silence_id',
  member: 'member_id',
  key: 'api_key_id',
  collector: 'collector_id',
  view: 'view_id',
} as const;

export type EntryObject = keyof typeof ENTRY_OBJECTS;

const KINDS = Object.keys(ENTRY_OBJECTS).join('|');

/** An object as a filter names it, such as `connection:3`. */
export const OBJECT_PATTERN = `^(?:${KINDS}):[1-9][0-9]{0,14}$`;
