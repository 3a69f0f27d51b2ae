import { expect, test } from 'vitest';
import { redactDefault, redactor } from './redact.ts';

const redact = redactor(Buffer.alloc(32, 1));
const hidden = /^hidden \([0-9a-f]{8}\)$/;

test.each([
  ['primary_conninfo', 'host=db'],
  ['archive_command', 'cp %p /archive/%f'],
  ['restore_command', 'cp'],
  ['recovery_end_command', 'x'],
  ['archive_cleanup_command', 'x'],
  ['ssl_passphrase_command', 'x'],
  ['init_connect', 'set @a = 1'],
  ['wsrep_sst_auth', 'sst:x'],
  ['WSREP_PROVIDER_OPTIONS', 'x'],
  ['report_password', 'x'],
  ['myapp.api_token', 'x'],
  ['pgsodium.getkey_script', 'x'],
  ['file_key_management_filekey', 'x'],
  ['anon.salt', 'x'],
  ['log_line_prefix', 'PASSWORD = x'],
  ['log_line_prefix', '{"password": "x"}'],
  ['cluster_name', 'amqp://ada:x@queue'],
  ['cluster_name', 'Authorization: Bearer abc'],
  ['cluster_name', '-----BEGIN PRIVATE KEY-----'],
])('hides %s = %s', (name, value) => {
  expect(redact(name, value)).toMatch(hidden);
});

test.each([
  ['work_mem', '4096'],
  ['password_encryption', 'scram-sha-256'],
  ['key_buffer_size', '134217728'],
  ['foreign_key_checks', 'ON'],
  ['archive_command', ''],
  ['log_line_prefix', '%m [%p] '],
  ['ssl_ciphers', 'HIGH:MEDIUM:+3DES:!aNULL'],
  ['synchronous_standby_names', 'FIRST 1 (north, south)'],
  ['shared_preload_libraries', 'pg_stat_statements,passwordcheck'],
  ['wal_level', 'replica'],
])('shows %s = %s', (name, value) => {
  expect(redact(name, value)).toBe(value);
});

test('equal values have equal hashes, others and those of another key do not', () => {
  expect(redact('secret', 'x')).toBe(redact('secret', 'x'));
  expect(redact('secret', 'x')).not.toBe(redact('secret', 'y'));
  expect(redactor(Buffer.alloc(32, 2))('secret', 'x')).not.toBe(redact('secret', 'x'));
});

test('of a column only a literal default is hidden', () => {
  expect(redactDefault('public.t.api_key', 'text not null', redact)).toBe('text not null');
  expect(redactDefault('public.t.api_key', "text default 'x'::text", redact)).toMatch(
    /^text default hidden \([0-9a-f]{8}\)$/,
  );
  expect(redactDefault('public.t.name', "text default 'x'::text", redact)).toBe("text default 'x'::text");
  expect(redactDefault('public.t.token_count', 'integer default 0', redact)).toBe('integer default 0');
});
