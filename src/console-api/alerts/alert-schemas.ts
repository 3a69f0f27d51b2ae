import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { ALERT_METRICS, ALERT_OPERATORS } from '../../vocabulary/alert-metrics.ts';
import { CHANNELS } from '../../vocabulary/channels.ts';
import { EVENT_KINDS } from '../../vocabulary/event-kinds.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { UNITS } from '../../vocabulary/units.ts';

/** The connections of a rule or a maintenance window; both null = every connection. */
const Scope = Type.Object({
  ids: nullable(Type.Array(identifier('connection identifier'))),
  names: nullable(Type.Array(Type.String())),
});

const Acknowledgement = Type.Object({
  at: timestamp('when it was acknowledged'),
  /** Null = until it is resolved. */
  until: nullable(timestamp('when reminders begin again')),
  by: Type.String(),
  note: Type.String(),
});

/** An alert. It contains untrusted text of the monitored server: render it as text. */
export const Alert = Type.Object({
  id: identifier('alert identifier'),
  state: stringEnum('open', 'resolved'),
  severity: stringEnum(...SEVERITIES),
  rule_id: identifier('the rule'),
  rule_name: Type.String(),
  connection_id: identifier('the connection'),
  connection_name: Type.String(),
  connection_removed: Type.Boolean(),
  /** What the rule compares. */
  kind: stringEnum(...ALERT_METRICS),
  /** What was compared, as the payload names it. */
  metric: Type.String(),
  unit: stringEnum(...UNITS),
  operator: stringEnum(...ALERT_OPERATORS),
  threshold: Type.Number(),
  value: Type.Number(),
  /** The worst value since it was triggered. */
  worst: Type.Number(),
  check_id: nullable(Type.String()),
  /** '' for the whole server. */
  database: Type.String(),
  object: nullable(Type.String()),
  metric_line: Type.String(),
  since: timestamp('when the condition began to hold'),
  triggered_at: timestamp('when it had held for long enough'),
  acknowledged: nullable(Acknowledgement),
  /** Why an open alert sends nothing now; null = it does, or it is resolved. */
  held: nullable(stringEnum('maintenance', 'unreachable')),
  resolved_at: nullable(timestamp('null while open')),
  resolution: nullable(Type.String()),
});

export const AlertList = Type.Object({
  items: Type.Array(Alert),
  /** `before` of the next page; null on the last. */
  next: nullable(identifier('an alert')),
});

/** How an event of an alert reached a destination. */
const AlertDelivery = Type.Object({
  id: identifier('delivery identifier'),
  destination_id: identifier('the destination'),
  destination_name: Type.String(),
  channel: stringEnum(...CHANNELS),
  kind: stringEnum(...EVENT_KINDS),
  state: stringEnum('queued', 'accepted', 'given_up', 'cancelled'),
  queued_at: timestamp('when it was queued'),
  ended_at: nullable(timestamp('null while queued')),
  attempts: count('attempts'),
  /** Of the last attempt, or why there was none; null before the first. */
  result: nullable(Type.String()),
});

export const AlertDetail = Type.Object({
  ...Alert.properties,
  remediation: nullable(Type.String()),
  rule_removed: Type.Boolean(),
  reminded_at: nullable(timestamp('the last reminder')),
  /** Newest first, at most 100. */
  deliveries: Type.Array(AlertDelivery),
});

/** The open alerts, for the navigation and the pages of connections. */
export const OpenCount = Type.Object({
  /** At most 100. */
  open: count('open alerts'),
  unacknowledged: count('of them, neither acknowledged nor held back'),
});

const rule = {
  name: Type.String(),
  metric: stringEnum(...ALERT_METRICS),
  check_id: nullable(Type.String()),
  measure: nullable(Type.String()),
  operator: stringEnum(...ALERT_OPERATORS),
  threshold: Type.Number(),
  clear_threshold: nullable(Type.Number()),
  for_seconds: count('seconds that the condition must hold'),
  for_runs: count('runs in a row in which it must hold'),
  severity: stringEnum(...SEVERITIES),
  connections: Scope,
  /** Null = all destinations. */
  destination_ids: nullable(Type.Array(identifier('a destination'))),
  reminder_seconds: nullable(count('seconds between reminders')),
  is_enabled: Type.Boolean(),
};

export const AlertRule = Type.Object({
  id: identifier('rule identifier'),
  /** Null = added by a member. */
  preset: nullable(Type.String()),
  ...rule,
  created_at: timestamp('when it was added'),
});

const Subject = Type.Object({
  check_id: Type.String(),
  measure: Type.String(),
  title: Type.String(),
  unit: stringEnum(...UNITS),
});

export const AlertRules = Type.Object({
  items: Type.Array(AlertRule),
  /** What rules may compare. */
  checks: Type.Array(Type.Object({ id: Type.String(), title: Type.String() })),
  /** Vitals have an empty check_id. */
  measures: Type.Array(Subject),
  destinations: Type.Array(Type.Object({ id: identifier('a destination'), name: Type.String() })),
});

// The verb says what is wrong with a value; here is only its type.
const WrittenScope = Type.Object(
  {
    ids: Type.Union([Type.Null(), Type.Array(identifier('connection'), { maxItems: 1_000 })]),
    names: Type.Union([
      Type.Null(),
      Type.Array(Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\p{Cc}\\p{Cs}]+$' }), {
        maxItems: 100,
      }),
    ]),
  },
  { additionalProperties: false, description: 'Choose connections, or enter names in which * is any text.' },
);

export const NewRule = Type.Object(
  {
    name: Type.String({ maxLength: 200, description: 'Enter a name of 1 to 200 characters.' }),
    metric: stringEnum(...ALERT_METRICS),
    check_id: Type.Union([Type.Null(), Type.String({ maxLength: 60 })]),
    measure: Type.Union([Type.Null(), Type.String({ maxLength: 63 })]),
    operator: stringEnum(...ALERT_OPERATORS),
    threshold: Type.Number({ description: 'Enter a number.' }),
    clear_threshold: Type.Union([Type.Null(), Type.Number()], {
      description: 'Enter a number, or leave it empty.',
    }),
    for_seconds: Type.Integer({ minimum: 0, maximum: 1e9, description: 'Enter a whole number.' }),
    for_runs: Type.Integer({ minimum: 1, maximum: 1_000, description: 'Enter a whole number, 1 or more.' }),
    severity: stringEnum(...SEVERITIES),
    connections: WrittenScope,
    destination_ids: Type.Union([Type.Null(), Type.Array(identifier('destination'), { maxItems: 20 })]),
    reminder_seconds: Type.Union([Type.Null(), Type.Integer({ minimum: 0, maximum: 1e9 })]),
    is_enabled: Type.Boolean(),
  },
  { additionalProperties: false },
);

/** How often a rule would have fired in the last 7 days. */
export const RulePreview = Type.Object({
  /** On the connections that were looked at; null = what it compares is not kept over time. */
  times: nullable(count('firings')),
  covered: count('connections that the rule covers'),
  looked_at: count('of these, the first whose values were read'),
});

export const ChangedRule = Type.Partial(NewRule, { additionalProperties: false });

/** A maintenance window. */
export const Maintenance = Type.Object({
  id: identifier('window identifier'),
  name: Type.String(),
  state: stringEnum('active', 'coming', 'past'),
  connections: Scope,
  starts_at: nullable(timestamp('of the active or next occurrence, or the last one')),
  ends_at: nullable(timestamp('its end')),
  /** 1 = Monday … 7 = Sunday; null = once. */
  weekdays: nullable(Type.Array(Type.Integer())),
  start_time: nullable(Type.String()),
  time_zone: nullable(Type.String()),
  minutes: nullable(Type.Integer()),
  created_by: Type.String(),
  created_at: timestamp('when it was added'),
});

export const MaintenanceList = Type.Object({ items: Type.Array(Maintenance) });

const instant = (description: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,6})?)?(Z|[+-]\\d\\d:\\d\\d)$',
    description,
  });

/** Once: `ends_at`, and `starts_at` unless it is now. Each week: the other fields. */
export const NewMaintenance = Type.Object(
  {
    name: Type.String({
      maxLength: 200,
      pattern: '^(?=.*\\S)[^\\p{Cc}\\p{Cs}\\u2028\\u2029]*$',
      description: 'Say in 1 to 200 characters what is maintained.',
    }),
    connections: WrittenScope,
    starts_at: Type.Optional(instant('Enter a date and a time.')),
    ends_at: Type.Optional(instant('Enter a date and a time.')),
    weekdays: Type.Optional(
      Type.Array(Type.Integer(), { maxItems: 7, description: 'Choose at least one weekday.' }),
    ),
    start_time: Type.Optional(
      Type.String({ maxLength: 5, description: 'Enter the start as hours and minutes, such as 02:00.' }),
    ),
    time_zone: Type.Optional(
      Type.String({ maxLength: 60, description: 'Enter a time zone, such as Europe/Berlin.' }),
    ),
    minutes: Type.Optional(Type.Integer({ description: 'Enter a whole number of minutes.' })),
  },
  { additionalProperties: false },
);

export type Alert = Static<typeof Alert>;
export type AlertList = Static<typeof AlertList>;
export type AlertDetail = Static<typeof AlertDetail>;
export type AlertDelivery = Static<typeof AlertDelivery>;
export type OpenCount = Static<typeof OpenCount>;
export type AlertRule = Static<typeof AlertRule>;
export type AlertRules = Static<typeof AlertRules>;
export type RulePreview = Static<typeof RulePreview>;
export type NewRule = Static<typeof NewRule>;
export type Maintenance = Static<typeof Maintenance>;
export type MaintenanceList = Static<typeof MaintenanceList>;
export type NewMaintenance = Static<typeof NewMaintenance>;
