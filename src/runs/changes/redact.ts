import { createHmac } from 'node:crypto';

/** Replaces a value that may be secret by a hash that only equal values share. */
export type Redact = (name: string, value: string) => string;

// Settings whose values are commands, connection strings or SQL: they often contain a password.
const SENSITIVE = new Set([
  'primary_conninfo',
  'archive_command',
  'restore_command',
  'archive_cleanup_command',
  'recovery_end_command',
  'ssl_passphrase_command',
  'init_connect',
  'init_slave',
  'init_replica',
  'init_file',
  'report_password',
  'wsrep_sst_auth',
  'wsrep_provider_options',
  'wsrep_notify_cmd',
  'wsrep_cluster_address',
]);

const NAMES =
  /pass|pwd|secret|key|token|auth|cred|conninfo|connstr|dsn|salt|jwt|cert_data|private|license|webhook|(?:_|\b)command$/i;

// The engines' own settings that match, and never contain a secret.
const HARMLESS = new Set([
  'authentication_timeout',
  'password_encryption',
  'foreign_key_checks',
  'innodb_ft_max_token_size',
  'innodb_ft_min_token_size',
  'ngram_token_size',
  'key_buffer_size',
  'key_cache_age_threshold',
  'key_cache_block_size',
  'key_cache_division_limit',
  'key_cache_file_hash_size',
  'key_cache_segments',
  'default_password_lifetime',
  'disconnect_on_expired_password',
  'max_password_errors',
  'password_history',
  'password_require_current',
  'password_reuse_interval',
  'old_passwords',
  'default_authentication_plugin',
  'authentication_policy',
  'strict_password_validation',
  'innodb_default_encryption_key_id',
  'innodb_encryption_rotate_key_age',
  'secure_auth',
]);

// `password=…` in a connection string, JSON or YAML, a login in a URL, a PEM block, and a header of HTTP.
const VALUES =
  /(?:pass\w*|pwd|secret\w*|token|api_?key|access_?key|credential\w*|sig)["']?\s*[=:]|:\/\/[^\s/@]*@|-----BEGIN|\b(?:bearer|basic) +\S|(?:^|\s)(?:--password|-p\S|-u\s*\S+:\S)|\bidentified\b/i;

/** Whether a value may be secret, by its name or by what it looks like. */
function isSensitive(name: string, value: string): boolean {
  if (value === '') return false;
  return SENSITIVE.has(name) || (NAMES.test(name) && !HARMLESS.has(name)) || VALUES.test(value);
}

/** Whether a value of an application's own setting, such as `myapp.pepper`, is a number, a size, a time or a switch. */
export function isPlain(value: string): boolean {
  return /^(?:on|off|true|false|yes|no|-?\d{1,12}(?:\.\d{1,6})?\s*(?:us|ms|s|min|h|d|B|kB|MB|GB|TB)?)$/i.test(
    value,
  );
}

/** Whether a value is what stands for a hidden one. */
export function isHidden(value: string): boolean {
  return /^hidden \([0-9a-f]{8}\)$/.test(value);
}

/** Hides a value: `hidden (3f9a1c0d)` is the same for equal values of one connection. Nobody without its key can guess it. */
export function hider(key: Buffer): (value: string) => string {
  return (value) => `hidden (${createHmac('sha256', key).update(value).digest('hex').slice(0, 8)})`;
}

const LONGEST = 4_000;

/** Hides values that may be secret, and returns the others as they are. `key` is the connection's own. */
export function redactor(key: Buffer): Redact {
  const hide = hider(key);
  // What is longer is cut before it is stored; searching it could take very long.
  return (name, value) =>
    isSensitive(name.slice(0, LONGEST).toLowerCase(), value.slice(0, LONGEST)) ? hide(value) : value;
}

/** Hides the default in a column's definition, such as `text default 'x'`, if it has a literal and may be secret. */
export function redactDefault(column: string, definition: string, redact: Redact): string {
  const at = definition.indexOf(' default ');
  const [type, value] = [definition.slice(0, at), definition.slice(at + ' default '.length)];
  return at < 0 || !value.includes("'") ? definition : `${type} default ${redact(column, value)}`;
}

/** Which key hashed the values: those of another key can't be compared. */
export function keyId(key: Buffer): string {
  return createHmac('sha256', key).update('key').digest('hex').slice(0, 8);
}
