import { kind } from './action-kind.ts';
import {
  CHANGES,
  connectionId,
  idField,
  ids,
  instant,
  integer,
  number,
  object,
  optional,
  orNull,
  severity,
  text,
} from './property.ts';

const ruleId = idField('the rule', 6);
const ruleName = text("the rule's name", 'Unreachable');
const alert = {
  alert_id: idField('the alert', 7),
  rule_id: orNull(ruleId),
  rule_name: ruleName,
  connection_id: connectionId,
};
const measured = {
  severity,
  metric: text('what is compared', 'unreachable_seconds'),
  operator: text('how', '>='),
  threshold: number('with what', 600),
  value: number('the value', 640),
  object: optional(text('the worst object', 'public.orders')),
};
const destination = {
  destination_id: idField('the destination', 2),
  name: text("the destination's name", 'SOC'),
  channel: text('its format', 'webhook'),
  target: text('the origin of its URL, or the recipients', 'https://hooks.example.com'),
};
const delivery = {
  delivery_id: idField('the delivery', 31),
  destination_id: destination.destination_id,
  destination: destination.name,
  event_id: text('the event', 'evt_2b6f0c1d'),
  kind: orNull(text('the kind of event', 'alert.triggered')),
  sequence: integer('its number at the destination', 12),
  epoch: text('the epoch of the number', 'a1b2c3d4e5f6'),
  status: orNull(integer('HTTP status or SMTP code; null = no answer', 200)),
  attempts: integer('how often it was tried', 1),
  reason: orNull(text('why it was given up or cancelled', '10 attempts failed.')),
  body_sha256: orNull(text('SHA-256 of what was sent; null = nothing', '9f86d081884c7d65')),
};
const undelivered = {
  first_id: idField('the first entry', 101),
  last_id: idField('the last entry', 250),
};
const maintenance = {
  maintenance_id: idField('the window', 3),
  name: text("the window's name", 'Patches'),
  connections: object('which connections: `ids` and `names`; both null = all', { ids: null, names: null }),
  starts_at: optional(orNull(instant('when it begins'))),
  ends_at: optional(orNull(instant('when it ends'))),
  weekdays: optional(orNull(ids('1 = Monday; of a recurring window', [7]))),
  start_time: optional(orNull(text('of a recurring window', '03:00'))),
  time_zone: optional(orNull(text('of a recurring window', 'Europe/Berlin'))),
  minutes: optional(orNull(integer('of a recurring window', 120))),
};
const recipient = {
  destination_id: destination.destination_id,
  name: destination.name,
  email: text('the recipient', 'ada@example.com'),
};

const ofAlert = { group: 'alerts', target: 'alert', targetName: 'rule_name' } as const;
const ofRule = { group: 'alerts', target: 'alert_rule', targetName: 'name' } as const;
const ofWindow = { group: 'alerts', target: 'maintenance', targetName: 'name' } as const;
const ofDestination = { group: 'notifications', target: 'destination', targetName: 'name' } as const;
const ofDelivery = {
  group: 'notifications',
  actor: 'service',
  activity: 'other',
  target: 'destination',
  targetName: 'destination',
} as const;

/** Alerts and their rules, maintenance, destinations and what was sent to them. */
export const NOTIFICATION_KINDS = {
  alert_triggered: kind({
    ...ofAlert,
    meaning: 'An alert was triggered.',
    actor: 'service',
    activity: 'other',
    properties: { ...alert, ...measured },
  }),
  alert_resolved: kind({
    ...ofAlert,
    meaning: 'An alert was resolved.',
    actor: 'service',
    activity: 'other',
    properties: {
      ...alert,
      ...measured,
      reason: optional(orNull(text('why', 'The condition no longer holds.'))),
    },
  }),
  alert_acknowledged: kind({
    ...ofAlert,
    meaning: 'An alert was acknowledged.',
    activity: 'update',
    properties: {
      ...alert,
      until: orNull(instant('the end of the acknowledgement; null = until it is resolved')),
      note: orNull(text('in words', 'I am on it.')),
    },
  }),
  alert_unacknowledged: kind({
    ...ofAlert,
    meaning: 'The acknowledgement of an alert was withdrawn.',
    activity: 'update',
    properties: alert,
  }),
  alert_rule_added: kind({
    ...ofRule,
    meaning: 'An alert rule was added. The entry has all its settings.',
    activity: 'create',
    properties: { rule_id: ruleId, name: ruleName },
  }),
  alert_rule_changed: kind({
    ...ofRule,
    meaning: 'An alert rule was changed.',
    activity: 'update',
    properties: { rule_id: ruleId, name: ruleName, ...CHANGES },
  }),
  alert_rule_removed: kind({
    ...ofRule,
    meaning: 'An alert rule was removed.',
    activity: 'delete',
    properties: { rule_id: ruleId, name: ruleName },
  }),
  maintenance_added: kind({
    ...ofWindow,
    meaning: 'A maintenance window was added.',
    activity: 'create',
    properties: maintenance,
  }),
  maintenance_ended: kind({
    ...ofWindow,
    meaning: 'A maintenance window was ended or removed.',
    activity: 'delete',
    properties: maintenance,
  }),
  destination_added: kind({
    ...ofDestination,
    meaning: 'A destination was added.',
    severity: 'low',
    activity: 'create',
    properties: destination,
  }),
  destination_changed: kind({
    ...ofDestination,
    meaning: 'A destination was changed.',
    severity: 'low',
    activity: 'update',
    properties: { ...destination, ...CHANGES },
  }),
  destination_removed: kind({
    ...ofDestination,
    meaning: 'A destination was removed.',
    severity: 'low',
    activity: 'delete',
    properties: { ...destination, cancelled: integer('deliveries that were cancelled', 0) },
  }),
  destination_disabled: kind({
    ...ofDestination,
    meaning:
      'A destination was disabled because its receiver failed, or its settings were changed outside dbvitals.',
    severity: 'low',
    actor: 'service',
    activity: 'update',
    properties: { ...destination, reason: text('why', 'The receiver answered 410 Gone.') },
  }),
  destination_enabled: kind({
    ...ofDestination,
    meaning: 'A destination was enabled again.',
    activity: 'update',
    properties: {
      ...destination,
      was: text('disabled or paused', 'disabled'),
      sent: optional(integer('deliveries that are sent now', 4)),
      skipped: optional(integer('deliveries that were skipped', 0)),
    },
  }),
  destination_secret_rotated: kind({
    ...ofDestination,
    meaning: 'The signing secret of a destination was replaced.',
    severity: 'low',
    activity: 'update',
    properties: { ...destination, old_valid_until: instant('how long the old secret signs too') },
  }),
  recipient_confirmed: kind({
    ...ofDestination,
    meaning: 'A recipient of e-mail confirmed.',
    activity: 'update',
    properties: recipient,
  }),
  recipient_unsubscribed: kind({
    ...ofDestination,
    meaning: 'A recipient of e-mail unsubscribed.',
    activity: 'update',
    properties: recipient,
  }),
  log_stream_behind: kind({
    ...ofDestination,
    meaning: 'Retention will delete entries that a log stream has not delivered, in a week at the earliest.',
    severity: 'medium',
    actor: 'service',
    activity: 'other',
    properties: {
      ...destination,
      ...undelivered,
      deletes_after: instant('the earliest time of their deletion'),
    },
  }),
  log_stream_missed: kind({
    ...ofDestination,
    meaning: 'Retention deleted entries that a log stream had not delivered. The stream goes on after them.',
    severity: 'medium',
    outcome: 'failure',
    actor: 'service',
    activity: 'other',
    properties: { ...destination, ...undelivered },
  }),
  delivery_accepted: kind({
    ...ofDelivery,
    meaning: 'A receiver accepted a delivery.',
    properties: delivery,
  }),
  delivery_cancelled: kind({
    ...ofDelivery,
    meaning: 'A delivery was cancelled.',
    properties: delivery,
  }),
  delivery_given_up: kind({
    ...ofDelivery,
    meaning: 'A delivery was given up: its receiver never accepted it.',
    severity: 'medium',
    outcome: 'failure',
    properties: delivery,
  }),
};
