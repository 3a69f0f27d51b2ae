import type { ActivityEntry } from '../../../../client/src/records.ts';
import type { ACTION_TYPES } from '../../../../src/activity/catalogue/catalogue.ts';
import type { EventKind } from '../../../../src/vocabulary/event-kinds.ts';
import { KIND_TEXTS } from '../../parts/kind-texts.ts';
import { escapeTurning } from '../../parts/visible-text.ts';

/** The label of each action, and what its actor did. {@link actionText} makes a label for actions that a newer service adds. */
const WORDS: Record<(typeof ACTION_TYPES)[number], readonly [label: string, sentence: string]> = {
  account_changed: ['Account changed', 'changed the account'],
  account_created: ['Account created', 'created the account'],
  activity_exported: ['Log exported', 'exported the log up to entry {last_id} as {format}'],
  activity_pruned: ['Log pruned', 'deleted log entries whose time was over'],
  alert_acknowledged: ['Alert acknowledged', 'acknowledged the alert {alert}'],
  alert_resolved: ['Alert resolved', 'resolved the alert {alert}{place}'],
  alert_rule_added: ['Alert rule added', 'added the alert rule {rule}'],
  alert_rule_changed: ['Alert rule changed', 'changed the alert rule {rule}'],
  alert_rule_removed: ['Alert rule removed', 'removed the alert rule {rule}'],
  alert_triggered: ['Alert triggered', 'triggered the alert {alert}{place}'],
  alert_unacknowledged: [
    'Alert acknowledgement withdrawn',
    'withdrew the acknowledgement of the alert {alert}',
  ],
  api_key_changed: ['API key changed', 'changed the API key {key}'],
  api_key_created: ['API key created', 'created the API key {key}'],
  api_key_expiring: ['API key expires soon', 'announced that the API key {key} expires soon'],
  api_key_refused: ['Refused API key used', 'was refused with the API key {key}, from {source}'],
  api_key_regenerated: ['API key regenerated', 'regenerated the API key {key}'],
  api_key_revoked: ['API key revoked', 'revoked the API key {key}'],
  api_request: ['API request', 'requested {method} {path}: {status}'],
  backup_failed: ['Backup failed', 'recorded that the backup of {connection} failed'],
  backup_heartbeat_renewed: ['Backup heartbeat created', 'created a backup heartbeat of {connection}'],
  backup_heartbeat_revoked: ['Backup heartbeat revoked', 'revoked the backup heartbeat of {connection}'],
  backup_succeeded: ['Backup succeeded', 'recorded that the backup of {connection} succeeded'],
  collector_enrolled: ['Collector enrolled', 'enrolled the collector {name}'],
  collector_returned: ['Collector is back', 'regained contact with the collector {name}'],
  collector_revoked: ['Collector revoked', 'revoked the collector {name}'],
  collector_silent: ['Collector silent', 'lost contact with the collector {name}'],
  collector_token_created: ['Collector token created', 'created a token for the collector {name}'],
  connection_added: ['Connection added', 'added {connection}'],
  connection_changed: ['Connection changed', 'changed {connection}'],
  connection_removed: ['Connection removed', 'removed {connection}'],
  connection_tagged: ['Connection tagged', 'tagged {connection}'],
  connection_tampered: ['Connection tampered with', 'found changed settings of {connection}'],
  delivery_accepted: ['Notification accepted', 'sent {kind} to {destination}'],
  delivery_cancelled: ['Notification cancelled', 'did not send {kind} to {destination}'],
  delivery_given_up: ['Notification given up', 'gave up sending {kind} to {destination}'],
  destination_added: ['Destination added', 'added the destination {destination}'],
  destination_changed: ['Destination changed', 'changed the destination {destination}'],
  destination_disabled: ['Destination disabled', 'disabled the destination {destination}'],
  destination_enabled: ['Destination enabled', 'enabled the destination {destination}'],
  destination_removed: ['Destination removed', 'removed the destination {destination}'],
  destination_secret_rotated: ['Signing secret rotated', 'rotated the signing secret of {destination}'],
  health_check_completed: ['Health check completed', 'checked {connection}: score {score}'],
  link_created: ['Link created', 'created a link: {purpose}'],
  link_used: ['Link used', 'used a link: {purpose}'],
  log_stream_behind: ['Log stream far behind', 'found the log stream {destination} far behind'],
  log_stream_missed: [
    'Log stream missed entries',
    'deleted entries that the log stream {destination} had not delivered',
  ],
  maintenance_added: ['Maintenance added', 'added the maintenance window {name}'],
  maintenance_ended: ['Maintenance ended', 'ended the maintenance window {name}'],
  member_added: ['Member added', 'added the member {member}'],
  member_changed: ['Member changed', 'changed the member {member}'],
  member_removed: ['Member removed', 'removed the member {member}'],
  member_sign_in_failed: ['Sign-in failed', 'entered a wrong password for {member}, from {source}'],
  member_signed_in: ['Signed in', 'signed in by {by}'],
  member_signed_out: ['Signed out', 'signed out'],
  passkey_added: ['Passkey added', 'added the passkey {passkey}'],
  passkey_removed: ['Passkey removed', 'removed the passkey {passkey}'],
  password_changed: ['Password changed', 'changed their password'],
  query_text_read: ['Query text read', 'read texts of queries of {connection}'],
  recipient_confirmed: ['Recipient confirmed', 'confirmed {email}'],
  recipient_unsubscribed: ['Recipient unsubscribed', 'unsubscribed {email}'],
  sample_data_added: ['Sample data added', 'added sample data'],
  saved_view_added: ['View saved', 'saved the view {name}'],
  saved_view_changed: ['View changed', 'changed the view {name}'],
  saved_view_removed: ['View removed', 'removed the view {name}'],
  session_ended: ['Session signed out', 'signed out a session'],
  own_check_added: ['Own check added', 'added the own check {title}'],
  own_check_changed: ['Own check changed', 'changed the own check {title}'],
  own_check_removed: ['Own check removed', 'removed the own check {title}'],
  own_check_tried: ['Own check tried', 'tried an own check on {connection}'],
  silence_added: ['Silence added', 'silenced {check_id} on {connection}'],
  silence_ended: ['Silence ended', 'ended the silence of {check_id} on {connection}'],
  threshold_changed: ['Thresholds changed', 'changed thresholds of {check_id}'],
  ticket_acknowledged: ['Ticket acknowledged or snoozed', 'acknowledged {ticket}'],
  ticket_assigned: ['Ticket assigned', 'assigned {ticket} to {assignee_name}'],
  ticket_comment_removed: ['Comment removed', 'removed a comment on {ticket}'],
  ticket_commented: ['Ticket commented on', 'commented on {ticket}'],
  ticket_deescalated: ['Ticket de-escalated', 'lowered {ticket} from {from} to {to}'],
  ticket_escalated: ['Ticket escalated', 'raised {ticket} from {from} to {to}'],
  ticket_opened: ['Ticket opened', 'opened {ticket}'],
  ticket_reopened: ['Ticket reopened', 'reopened {ticket}'],
  ticket_resolved: ['Ticket resolved', 'resolved {ticket}'],
  ticket_unacknowledged: ['Acknowledgement or snooze withdrawn', 'withdrew the acknowledgement of {ticket}'],
};

/** The actions to filter by. */
export const ACTIONS: readonly { id: string; label: string }[] = Object.entries(WORDS)
  .map(([id, [label]]) => ({ id, label }))
  .sort((a, b) => a.label.localeCompare(b.label, 'en'));

/** The label of an action. */
export function actionText(actionType: string): string {
  const known = ACTIONS.find(({ id }) => id === actionType)?.label;
  return known ?? actionType.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());
}

/** The first of the named properties that is a string or number; null when there is none. */
function first({ properties }: ActivityEntry, ...names: string[]): string | null {
  const found = names
    .map((name) => properties[name])
    .find((value) => ['string', 'number'].includes(typeof value));
  return found === undefined ? null : String(found);
}

/** The objects that a sentence names: the properties with the name and the id, and what a nameless one is called. */
const OBJECTS = {
  connection: { names: ['connection_name', 'name'], id: 'connection_id' },
  ticket: { names: ['title'], id: 'ticket_id' },
  destination: { names: ['destination', 'name'], id: 'destination_id' },
  alert: { names: ['rule_name'], id: 'alert_id' },
  rule: { names: ['name', 'rule_name'], id: 'rule_id' },
  key: { names: ['api_key_name', 'name'], id: 'api_key_id' },
  member: { names: ['name', 'email'], id: 'member_id' },
} as const;

/** A part of a sentence; with an object, it links to the object's page. It may contain untrusted text. */
export interface SentencePart {
  text: string;
  object?: { kind: keyof typeof OBJECTS; id: string };
}

/** What the actor did, as the words of a sentence: `acknowledged`, and the ticket. */
export function toSentence(entry: ActivityEntry): SentencePart[] {
  return readTemplate(entry)
    .split(/\{(\w+)\}/)
    .map((text, place) => (place % 2 === 0 ? { text } : fillIn(entry, text)))
    .filter(({ text }) => text !== '');
}

/** A snooze has the action type of an acknowledgement, and an end. */
function readTemplate({ action_type, properties }: ActivityEntry): string {
  const isSnooze = typeof properties['until'] === 'string';
  if (isSnooze && action_type === 'ticket_acknowledged') return 'snoozed {ticket}';
  if (isSnooze && action_type === 'ticket_unacknowledged') return 'withdrew the snooze of {ticket}';
  if (action_type === 'ticket_assigned' && properties['assignee_id'] === null) return 'unassigned {ticket}';
  const known = Object.entries(WORDS).find(([id]) => id === action_type)?.[1][1];
  return known ?? `did: ${actionText(action_type)}`;
}

function isObjectName(name: string): name is keyof typeof OBJECTS {
  return name in OBJECTS;
}

function fillIn(entry: ActivityEntry, name: string): SentencePart {
  if (isObjectName(name)) {
    const { names, id } = OBJECTS[name];
    const [text, number] = [first(entry, ...names), first(entry, id)];
    const words = text ?? (number === null ? `a ${name}` : `${name} ${number}`);
    return number === null ? { text: words } : { text: words, object: { kind: name, id: number } };
  }
  return { text: propertyText(entry, name) };
}

function propertyText(entry: ActivityEntry, name: string): string {
  const value = first(entry, name);
  switch (name) {
    case 'path':
      return entry.page_path;
    case 'source': {
      const attempts = Number(entry.properties['attempts']);
      return `${first(entry, 'source_ip') ?? 'an unknown address'}${attempts > 1 ? `, ${attempts} times` : ''}`;
    }
    case 'place': {
      const object = first(entry, 'object');
      return object === null ? '' : ` for ${object}`;
    }
    case 'kind':
      return KIND_TEXTS[value as EventKind]?.name ?? value ?? 'an event';
    case 'purpose':
      return LINKS.get(value ?? '') ?? 'unknown purpose';
    case 'format':
      return value?.toUpperCase() ?? '';
    default:
      return value ?? (name === 'by' ? 'an unknown method' : 'unknown');
  }
}

const LINKS = new Map([
  ['owner', 'first owner'],
  ['invitation', 'invitation'],
  ['reset', 'password reset'],
]);

/** Actions of the service itself. */
const ITS_OWN =
  /^(?:(?:health_check|delivery)_|ticket_(?:opened|reopened|resolved|escalated|deescalated)|activity_pruned|alert_(?:triggered|resolved)|destination_disabled|api_key_expiring|log_stream_|backup_(?:failed|succeeded)|collector_(?:silent|returned)|connection_tampered)/;

/** Who did it: a member, an API key, the service, or else the operator at the command line. */
export function actorText(entry: ActivityEntry): string {
  if (['api_key_refused', 'member_sign_in_failed'].includes(entry.action_type)) return 'somebody';
  const named = first(entry, 'actor_name', 'api_key_name', 'actor');
  if (named !== null) return named;
  // On sign-in and link pages people act for themselves.
  if (entry.page_path === '/sign-in') return first(entry, 'name') ?? 'somebody';
  if (entry.page_path === '/link') return 'the user of the link';
  if (entry.action_type.startsWith('recipient_')) return 'the recipient';
  return ITS_OWN.test(entry.action_type) ? 'the service' : 'the operator';
}

/** An entry as the API returns it, with bidirectional control characters escaped. */
export function entryJson(entry: ActivityEntry): string {
  return escapeTurning(JSON.stringify(entry, null, 2));
}
