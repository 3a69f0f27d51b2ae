import type { ActivityEntry } from '../../../../client/src/records.ts';
import type { ACTION_TYPES } from '../../../../src/activity/catalogue/catalogue.ts';
import type { EventKind } from '../../../../src/vocabulary/event-kinds.ts';
import { KIND_TEXTS } from '../../parts/kind-texts.ts';
import { escapeTurning } from '../../parts/visible-text.ts';

/** The label of each action. {@link actionText} makes one for actions that a newer service adds. */
const WORDS: Record<(typeof ACTION_TYPES)[number], string> = {
  account_changed: 'Account changed',
  account_created: 'Account created',
  activity_exported: 'Log exported',
  activity_pruned: 'Log pruned',
  alert_acknowledged: 'Alert acknowledged',
  alert_resolved: 'Alert resolved',
  alert_rule_added: 'Alert rule added',
  alert_rule_changed: 'Alert rule changed',
  alert_rule_removed: 'Alert rule removed',
  alert_triggered: 'Alert triggered',
  alert_unacknowledged: 'Alert acknowledgement withdrawn',
  api_key_changed: 'API key changed',
  api_key_created: 'API key created',
  api_key_expiring: 'API key expires soon',
  api_key_refused: 'Refused API key used',
  api_key_regenerated: 'API key regenerated',
  api_key_revoked: 'API key revoked',
  api_request: 'API request',
  backup_failed: 'Backup failed',
  backup_heartbeat_renewed: 'Backup heartbeat created',
  backup_heartbeat_revoked: 'Backup heartbeat revoked',
  backup_succeeded: 'Backup succeeded',
  collector_enrolled: 'Collector enrolled',
  collector_returned: 'Collector is back',
  collector_revoked: 'Collector revoked',
  collector_silent: 'Collector silent',
  collector_token_created: 'Collector token created',
  connection_added: 'Connection added',
  connection_changed: 'Connection changed',
  connection_removed: 'Connection removed',
  connection_tagged: 'Connection tagged',
  connection_tampered: 'Connection tampered with',
  delivery_accepted: 'Notification accepted',
  delivery_cancelled: 'Notification cancelled',
  delivery_given_up: 'Notification given up',
  destination_added: 'Destination added',
  destination_changed: 'Destination changed',
  destination_disabled: 'Destination disabled',
  destination_enabled: 'Destination enabled',
  destination_removed: 'Destination removed',
  destination_secret_rotated: 'Signing secret rotated',
  health_check_completed: 'Health check completed',
  link_created: 'Link created',
  link_used: 'Link used',
  log_stream_behind: 'Log stream far behind',
  log_stream_missed: 'Log stream missed entries',
  maintenance_added: 'Maintenance added',
  maintenance_ended: 'Maintenance ended',
  member_added: 'Member added',
  member_changed: 'Member changed',
  member_removed: 'Member removed',
  member_sign_in_failed: 'Sign-in failed',
  member_signed_in: 'Signed in',
  member_signed_out: 'Signed out',
  passkey_added: 'Passkey added',
  passkey_removed: 'Passkey removed',
  password_changed: 'Password changed',
  query_text_read: 'Query text read',
  recipient_confirmed: 'Recipient confirmed',
  recipient_unsubscribed: 'Recipient unsubscribed',
  sample_data_added: 'Sample data added',
  saved_view_added: 'View saved',
  saved_view_changed: 'View changed',
  saved_view_removed: 'View removed',
  session_ended: 'Session signed out',
  own_check_added: 'Own check added',
  own_check_changed: 'Own check changed',
  own_check_removed: 'Own check removed',
  own_check_tried: 'Own check tried',
  silence_added: 'Silence added',
  silence_ended: 'Silence ended',
  threshold_changed: 'Thresholds changed',
  ticket_acknowledged: 'Ticket acknowledged or snoozed',
  ticket_assigned: 'Ticket assigned',
  ticket_comment_removed: 'Comment removed',
  ticket_commented: 'Ticket commented on',
  ticket_deescalated: 'Ticket de-escalated',
  ticket_escalated: 'Ticket escalated',
  ticket_opened: 'Ticket opened',
  ticket_reopened: 'Ticket reopened',
  ticket_resolved: 'Ticket resolved',
  ticket_unacknowledged: 'Acknowledgement or snooze withdrawn',
};

/** The actions to filter by. */
export const ACTIONS: readonly { id: string; label: string }[] = Object.entries(WORDS)
  .map(([id, label]) => ({ id, label }))
  .sort((a, b) => a.label.localeCompare(b.label, 'en'));

/** The label of an action. */
export function actionText(actionType: string): string {
  const known = ACTIONS.find(({ id }) => id === actionType)?.label;
  return known ?? actionType.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());
}

/** What happened in an entry. A snooze has the action type of an acknowledgement, and an end. */
export function entryText({ action_type, properties }: ActivityEntry): string {
  const isSnooze = typeof properties['until'] === 'string';
  if (action_type === 'ticket_acknowledged') return isSnooze ? 'Ticket snoozed' : 'Ticket acknowledged';
  if (action_type === 'ticket_unacknowledged')
    return isSnooze ? 'Ticket snooze withdrawn' : 'Ticket acknowledgement withdrawn';
  if (action_type === 'ticket_assigned' && properties['assignee_id'] === null) return 'Ticket unassigned';
  return actionText(action_type);
}

/** The first of the named properties that is a string or number; null when there is none. */
function first({ properties }: ActivityEntry, ...names: string[]): string | null {
  const found = names
    .map((name) => properties[name])
    .find((value) => ['string', 'number'].includes(typeof value));
  return found === undefined ? null : String(found);
}

/** A short description of an entry. It may contain untrusted text. */
export function detailsText(entry: ActivityEntry): string {
  const { action_type, page_path, properties } = entry;
  if (action_type === 'api_request') return `${properties['method']} ${page_path} → ${properties['status']}`;
  if (action_type === 'health_check_completed') {
    return `Connection ${properties['connection_id']}, score ${properties['score']}`;
  }
  if (action_type === 'api_key_refused') {
    const from = first(entry, 'source_ip') ?? 'other addresses';
    const attempts = Number(properties['attempts']);
    return `${first(entry, 'api_key_name')}, from ${from}${attempts > 1 ? `, ${attempts} times` : ''}`;
  }
  if (action_type === 'member_sign_in_failed') {
    return `${first(entry, 'name') ?? 'A member'}, from ${first(entry, 'source_ip') ?? 'an unknown address'}`;
  }
  if (action_type === 'activity_exported') {
    return `Up to entry ${properties['last_id']}, as ${String(properties['format']).toUpperCase()}`;
  }
  if (action_type === 'sample_data_added') {
    return `Entries ${properties['first_id']} to ${properties['last_id']}`;
  }
  if (action_type === 'ticket_escalated' || action_type === 'ticket_deescalated') {
    return `${properties['title']}: ${properties['from']} → ${properties['to']}`;
  }
  if (action_type.startsWith('delivery_')) {
    const kind = KIND_TEXTS[properties['kind'] as EventKind]?.name ?? properties['kind'];
    return `${properties['destination']}: ${kind}`;
  }
  if (action_type === 'alert_triggered' || action_type === 'alert_resolved') {
    return [properties['rule_name'], first(entry, 'object')].filter((part) => part !== null).join(': ');
  }
  if (action_type === 'member_signed_in') {
    const by = first(entry, 'by');
    return by === null ? 'Method unknown' : `By ${by}`;
  }
  const link = LINKS.get(String(properties['purpose']));
  return link ?? first(entry, 'title', 'name', 'rule_name', 'check_id', 'email') ?? page_path;
}

const LINKS = new Map([
  ['owner', 'First owner'],
  ['invitation', 'Invitation'],
  ['reset', 'Password reset'],
]);

/** Actions of the service itself. */
const ITS_OWN =
  /^(?:(?:health_check|delivery)_|ticket_(?:opened|reopened|resolved|escalated|deescalated)|activity_pruned|alert_(?:triggered|resolved)|destination_disabled|api_key_expiring)/;

/** Who did it: a member, an API key, the service, or else the operator at the command line. */
export function actorText(entry: ActivityEntry): string {
  if (['api_key_refused', 'member_sign_in_failed'].includes(entry.action_type)) return 'unknown';
  const named = first(entry, 'actor_name', 'api_key_name', 'actor');
  if (named !== null) return named;
  // On sign-in and link pages people act for themselves.
  if (entry.page_path === '/sign-in') return first(entry, 'name') ?? 'unknown';
  if (entry.page_path === '/link') return 'the user of the link';
  if (entry.action_type.startsWith('recipient_')) return 'the recipient';
  return ITS_OWN.test(entry.action_type) ? 'the service' : 'the operator';
}

/** An entry as the API returns it, with bidirectional control characters escaped. */
export function entryJson(entry: ActivityEntry): string {
  return escapeTurning(JSON.stringify(entry, null, 2));
}
