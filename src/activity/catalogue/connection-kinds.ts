import { kind } from './action-kind.ts';
import {
  CHANGES,
  checkId,
  connectionId,
  flag,
  idField,
  instant,
  integer,
  name,
  object,
  optional,
  orNull,
  text,
  texts,
} from './property.ts';

const server = {
  connection_id: connectionId,
  name,
  host: text('host of the server', 'db.example.com'),
  port: integer('its port', 5_432),
};
const undone = optional(flag('whether Undo did it'));
const silence = {
  silence_id: idField('the silence', 8),
  connection_id: connectionId,
  check_id: checkId,
  object: orNull(text('the object; null = all', 'public.orders')),
  reason: text('why', 'accepted'),
  note: text('in words', 'Known; replaced in May.'),
  until: orNull(instant('its end; null = until it is ended')),
};

/** Watched servers, their settings, and their health checks. */
export const CONNECTION_KINDS = {
  connection_added: kind({
    meaning: 'A connection was added.',
    group: 'connections',
    severity: 'low',
    activity: 'create',
    target: 'connection',
    targetName: 'name',
    properties: { ...server, connection_type: optional(text('how it is reached', 'direct')) },
  }),
  connection_changed: kind({
    meaning: 'The settings of a connection changed.',
    group: 'connections',
    severity: 'low',
    activity: 'update',
    target: 'connection',
    targetName: 'name',
    properties: {
      ...server,
      changed: optional(CHANGES.changed),
      from: optional(CHANGES.from),
      to: optional(CHANGES.to),
      ssh_key_changed: optional(flag('whether the key of the SSH tunnel changed')),
    },
  }),
  connection_removed: kind({
    meaning: 'A connection was removed.',
    group: 'connections',
    severity: 'low',
    activity: 'delete',
    target: 'connection',
    targetName: 'name',
    properties: server,
  }),
  connection_tagged: kind({
    meaning: 'Tags of a connection were added or removed.',
    group: 'connections',
    activity: 'update',
    target: 'connection',
    targetName: 'name',
    properties: {
      connection_id: connectionId,
      name,
      added: texts('tags', ['env:prod']),
      removed: texts('tags', ['env:test']),
    },
  }),
  connection_tampered: kind({
    meaning:
      'The stored settings of a connection were changed outside dbvitals, so its password was not sent.',
    group: 'connections',
    severity: 'medium',
    outcome: 'failure',
    activity: 'update',
    actor: 'service',
    target: 'connection',
    properties: { connection_id: connectionId },
  }),
  threshold_changed: kind({
    meaning: 'Thresholds of the account or of a tag changed.',
    group: 'connections',
    activity: 'update',
    target: null,
    properties: {
      tag: orNull(text('the tag; null = the whole account', 'env:prod')),
      changed: texts('the thresholds, as check and name', ['PG_LONG_XACT.warning']),
      from: object('the values before; null = not set', { 'PG_LONG_XACT.warning': null }),
      to: object('the values after; null = not set', { 'PG_LONG_XACT.warning': 600 }),
    },
  }),
  silence_added: kind({
    meaning: 'A finding was silenced.',
    group: 'connections',
    activity: 'create',
    target: 'silence',
    properties: { ...silence, undone },
  }),
  silence_ended: kind({
    meaning: 'A silence was ended.',
    group: 'connections',
    activity: 'delete',
    target: 'silence',
    properties: { ...silence, undone },
  }),
  health_check_completed: kind({
    meaning: 'A health check ran.',
    group: 'checks',
    activity: 'other',
    actor: 'service',
    target: 'connection',
    properties: {
      connection_id: connectionId,
      score: integer('health score, 0 to 100', 92),
      health_check_id: optional(idField('the run', 120)),
    },
  }),
  query_text_read: kind({
    meaning: 'A member read the texts of queries.',
    group: 'checks',
    severity: 'low',
    activity: 'read',
    target: 'connection',
    properties: {
      connection_id: connectionId,
      query: optional(text('the id of the query', 'f3a1c07e99b2d415')),
      queries: optional(texts('the ids of the queries, if they are several', ['f3a1c07e99b2d415'])),
    },
  }),
};
