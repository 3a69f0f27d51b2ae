import { kind } from './action-kind.ts';
import { idField, instant, integer, object, optional, orNull, text, texts } from './property.ts';

const keyId = idField('the key', 5);
const keyName = text("the key's name", 'collector');
const scopes = orNull(texts('what the key may read; null = all that the plan includes', ['health']));
const addresses = orNull(texts('from where it may be used; null = anywhere', ['192.0.2.0/24']));
const expiresAt = orNull(instant('when it expires; null = never'));

/** API keys, and the requests made with them. */
export const KEY_KINDS = {
  api_request: kind({
    meaning: 'A request was made with a live key, whatever its answer.',
    group: 'requests',
    severity: 'status',
    outcome: 'status',
    activity: 'read',
    actor: 'api_key',
    target: null,
    properties: {
      method: orNull(text('HTTP method', 'GET')),
      status: orNull(integer('HTTP status of the answer', 200)),
      error_code: orNull(text('code of the error; null = none', 'rate_limited')),
      query: object('the parameters', { per_page: '100' }),
      request_id: orNull(text('X-Request-Id of the answer', '0199b2f4-6b5e-7c3a-9a41-2f5d0c9e7b11')),
      api_key_id: orNull(keyId),
      api_key_name: orNull(keyName),
      source_ip: orNull(text('address of the client', '192.0.2.7')),
      user_agent: orNull(text('User-Agent', 'curl/8.14.1')),
    },
  }),
  api_key_refused: kind({
    meaning: 'A key was tried after its end, or from an address that is not allowed.',
    group: 'requests',
    severity: 'medium',
    outcome: 'failure',
    activity: 'read',
    actor: 'api_key',
    target: 'key',
    targetName: 'api_key_name',
    properties: {
      api_key_id: keyId,
      api_key_name: orNull(keyName),
      reason: text('why it was refused', 'ended'),
      source_ip: orNull(text('address of the client; null = other addresses', '192.0.2.7')),
      attempts: integer('how often since the last such entry', 3),
    },
  }),
  api_key_created: kind({
    meaning: 'A key was created.',
    group: 'keys',
    severity: 'low',
    activity: 'create',
    target: 'key',
    targetName: 'name',
    properties: {
      api_key_id: keyId,
      name: keyName,
      expires_at: expiresAt,
      scopes: optional(scopes),
      allowed_addresses: optional(addresses),
    },
  }),
  api_key_changed: kind({
    meaning: 'What a key may read, or from where, changed.',
    group: 'keys',
    severity: 'low',
    activity: 'update',
    target: 'key',
    targetName: 'name',
    properties: {
      api_key_id: keyId,
      name: keyName,
      scopes,
      allowed_addresses: addresses,
      before: object('both before the change', { scopes: null, allowed_addresses: null }),
    },
  }),
  api_key_regenerated: kind({
    meaning: 'A key was replaced by a successor.',
    group: 'keys',
    severity: 'low',
    activity: 'update',
    target: 'key',
    targetName: 'name',
    properties: {
      api_key_id: keyId,
      name: keyName,
      revoked_at: orNull(instant('when the old key ends')),
      replaced_by: idField('the new key', 6),
      expires_at: expiresAt,
    },
  }),
  api_key_revoked: kind({
    meaning: 'A key was revoked.',
    group: 'keys',
    severity: 'low',
    activity: 'delete',
    target: 'key',
    targetName: 'name',
    properties: { api_key_id: keyId, name: keyName, revoked_at: orNull(instant('when it ended')) },
  }),
  api_key_expiring: kind({
    meaning: 'A key expires soon.',
    group: 'keys',
    activity: 'other',
    actor: 'service',
    target: 'key',
    targetName: 'name',
    properties: {
      api_key_id: keyId,
      name: keyName,
      last_four: text('its last four characters', '9Zk2'),
      expires_at: instant('when it expires'),
      last_used_at: orNull(instant('when it was last used; null = never')),
    },
  }),
};
