import type { ActivityEntry } from '../../../../client/src/records.ts';
import { reasonInWords } from '../../../../src/platform/text/silence-reason-words.ts';
import { ENTRY_OBJECTS, type EntryObject } from '../../../../src/vocabulary/entry-objects.ts';
import { localInstants } from '../../parts/readable-text.ts';
import { visibleText } from '../../parts/visible-text.ts';

/** A field that an entry changed. Null = the log does not have the value. */
export interface FieldChange {
  field: string;
  before: string | null;
  after: string | null;
}

/** What an entry says besides its changes. */
export interface Fact {
  name: string;
  value: string;
  /** The object that the fact names, as a filter takes it. */
  object: string | null;
}

type Properties = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Properties =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What an entry changed, field by field. The log never has the values of secrets. */
export function fieldChanges({ action_type, properties }: ActivityEntry): FieldChange[] {
  const { from, to, changed, before } = properties;
  if (action_type === 'ticket_escalated' || action_type === 'ticket_deescalated') {
    return [{ field: 'Severity', before: text(from), after: text(to) }];
  }
  // A changed key has its new values among the other properties.
  if (isObject(before)) {
    return Object.entries(before).flatMap(([name, was]) => differences(label(name), was, properties[name]));
  }
  if (!Array.isArray(changed)) return [];
  // An older entry has no values.
  const values = isObject(from) && isObject(to) ? { from, to } : { from: {}, to: {} };
  return changed.map(String).flatMap((field) => {
    if (!(field in values.to) && !(field in values.from)) {
      return [{ field: label(field), before: null, after: null }];
    }
    return differences(label(field), values.from[field], values.to[field]);
  });
}

/** The leaves that differ between two values. */
function differences(field: string, before: unknown, after: unknown): FieldChange[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (!isObject(before) && !isObject(after)) return [{ field, before: text(before), after: text(after) }];
  const [was, is] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name) =>
    differences(`${field}: ${name}`, was[name], is[name]),
  );
}

const OBJECTS: ReadonlyMap<string, string> = new Map(
  Object.entries(ENTRY_OBJECTS).map(([kind, property]) => [property, kind]),
);

/** The properties of an entry that are no change, in words. */
export function entryFacts({ properties, ...entry }: ActivityEntry): Fact[] {
  const { before, changed } = properties;
  const isChange = Array.isArray(changed) || entry.action_type.endsWith('escalated');
  const hidden = isObject(before)
    ? ['before', ...Object.keys(before)]
    : isChange
      ? ['changed', 'from', 'to']
      : [];
  const of = Object.entries(properties).flatMap(([name, value]): Fact[] => {
    if (hidden.includes(name) || value === null || value === '') return [];
    const kind = OBJECTS.get(name) ?? (name === 'actor_member_id' ? null : undefined);
    const object = kind && Number.isSafeInteger(value) ? `${kind}:${value}` : null;
    const words = name === 'reason' ? reasonInWords(text(value)) : text(value);
    return [{ name: label(name), value: words, object }];
  });
  return [{ name: 'Page', value: visibleText(entry.page_path), object: null }, ...of];
}

/** A value as a person reads it. It may be a stranger's text. */
function text(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(text).join(', ');
  if (!isObject(value)) return localInstants(visibleText(String(value)));
  const parts = Object.entries(value).map(([name, part]) => `${name}: ${text(part)}`);
  return parts.length === 0 ? 'none' : visibleText(parts.join(', '));
}

const WORDS: Readonly<Record<string, string>> = {
  api_key_id: 'API key',
  api_key_name: 'Name of the API key',
  actor_member_id: 'Member who did it',
  actor_name: 'Done by',
  connection_id: 'Connection',
  ca_certificate: 'Certificates of authorities',
  check_id: 'Check',
  rule_id: 'Alert rule',
  ssh_key_changed: 'SSH key changed',
  source_ip: 'Address',
  tls: 'TLS',
  url: 'URL',
  query_texts: 'Texts of queries',
  pulse: 'Pulse',
  backup_expected: 'Expected backup',
  requests_per_minute: 'Requests per minute',
  user_agent: 'Program',
};

/** `expected_standbys` as `Expected standbys`. A name with capitals, such as `PG_DEAD_TUPLES.warning`, stays as it is. */
function label(name: string): string {
  if (/[A-Z]/.test(name)) return visibleText(name);
  const words = WORDS[name] ?? visibleText(name).replace(/_id$/, '').replaceAll('_', ' ');
  return words.replace(/^./u, (first) => first.toUpperCase());
}

const OBJECT_WORDS: Record<EntryObject, string> = {
  connection: 'Connection',
  ticket: 'Ticket',
  alert: 'Alert',
  alert_rule: 'Alert rule',
  destination: 'Destination',
  maintenance: 'Maintenance',
  silence: 'Silence',
  member: 'Member',
  key: 'API key',
  collector: 'Collector',
  view: 'View',
};

/** `connection:3` as `Connection 3`. */
export function objectText(object: string): string {
  const [kind = '', id] = object.split(':');
  return `${OBJECT_WORDS[kind as EntryObject] ?? kind} ${id}`;
}
