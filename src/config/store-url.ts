import { createRequire } from 'node:module';
import type pg from 'pg';
import { foreignAddress, plainUrl } from '../platform/network/foreign-address.ts';
import { takeTls } from './store-tls.ts';

const require = createRequire(import.meta.url);

/** One host of the store, or of a pooler in front of it. */
interface StoreHost extends pg.ClientConfig {
  /** For a pooler in transaction mode: the URL of the database that acts as a role. */
  pooled?: (role: StoreRole) => string;
}

/** The address of the store: one entry per host of `DATABASE_URL`, tried in turn. */
export type StoreAddress = readonly StoreHost[];

/** `owner` runs migrations, `writer` serves the gate, the monitor and the commands, `reader` the API, `console` the console's pages. */
export type StoreRole = 'owner' | 'writer' | 'reader' | 'console';

const parsed = new Map<string, StoreAddress>();

/**
 * Parses a PostgreSQL URL; it may list several hosts, separated by commas as in libpq. The same URL gives the same object, so all
 * pools on it share what they know of its primary. `setting` is its name in messages. Throws a sentence that says what to do if
 * the URL is invalid.
 */
export function parseStoreUrl(text: string, setting = 'DATABASE_URL'): StoreAddress {
  const known = parsed.get(text);
  if (known) return known;
  const address = parseHosts(setting, 5432, text).map(({ before, name, after, tls }) => ({
    connectionString: `${before}/${name}${after}`,
    ...tls,
  }));
  parsed.set(text, address);
  return address;
}

/** {@link parseStoreUrl} for a pooler in transaction mode, whose databases are `<name>_writer` and `<name>_reader`. */
export function parsePoolerUrl(text: string, setting = 'DBVITALS_POOLER_URL'): StoreAddress {
  return parseHosts(setting, 6432, text).map(({ before, name, after, tls }) => ({
    pooled: (role) => `${before}/${name}_${role}${after}`,
    ...tls,
  }));
}

function parseHosts(setting: string, port: number, written: string) {
  const text = plainUrl(written);
  const [, before, hosts, name, after] =
    /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)\/([^?#]+)(.*)$/.exec(text) ?? [];
  const parameters = new URLSearchParams(/\?[^#]*/.exec(after ?? '')?.[0]);
  checkChannelBinding(setting, parameters);
  checkProtections(setting, parameters);
  checkSessionAttributes(setting, parameters);
  const { tls, rest } = takeTls(setting, after ?? '');
  try {
    if (hosts === undefined) throw new Error('no host or database');
    return hosts.split(',').map((host) => {
      const { Client }: typeof pg = require('pg'); // loaded only for a URL: commands without a store start sooner
      const { host: parsed } = new Client({ connectionString: `${before}${host}/${name}${rest}` }); // throws if it is not a URL
      const hasTls = tls !== undefined && !parsed.startsWith('/'); // as for libpq, a socket has none
      return { before: `${before}${host}`, name, after: rest, tls: hasTls ? { ssl: tls } : {} };
    });
  } catch {
    const isOther = /^(?:mysql|mariadb|sqlite|mongodb|sqlserver):/.test(text);
    const how = isOther ? 'the store is a PostgreSQL' : foreignAddress(text);
    throw new Error(
      `${setting} must look like postgres://user:password@host:${port}/database${how === null ? '' : `: ${how}`}.`,
    );
  }
}

// pg ignores it, so an operator who asks for `require` would believe that logins are bound to the TLS channel.
function checkChannelBinding(setting: string, parameters: URLSearchParams): void {
  const values = parameters.getAll('channel_binding');
  if (values.includes('require'))
    throw new Error(
      `${setting} contains channel_binding=require: remove it, and use sslmode=verify-full, which verifies the certificate and the name of the server. dbvitals cannot require channel binding.`,
    );
  if (values.some((value) => value !== 'prefer' && value !== 'disable'))
    throw new Error(`${setting} contains channel_binding: it must be prefer or disable, or be removed.`);
}

/** By which libpq protects a connection, and pg does not; with the values that ask for no more than pg does. */
const PROTECTIONS: Record<string, RegExp> = {
  gssencmode: /^(?:disable|prefer)$/,
  require_auth: /^$/,
  requirepeer: /^$/,
  ssl_min_protocol_version: /^(?:|TLSv1(?:\.[12])?)$/, // of Node: TLSv1.2
  sslcertmode: /^(?:disable|allow)$/,
  sslcrl: /^$/,
  sslcrldir: /^$/,
};

// pg ignores these, so an operator would believe that the connection is as safe as they ask.
function checkProtections(setting: string, parameters: URLSearchParams): void {
  for (const [name, harmless] of Object.entries(PROTECTIONS))
    if (parameters.getAll(name).some((value) => !harmless.test(value)))
      throw new Error(
        `${setting} contains ${name}, which dbvitals does not support: remove it. sslmode=verify-full verifies the certificate and the name of the server.`,
      );
}

// pg ignores it, and every connection requires the primary anyway.
function checkSessionAttributes(setting: string, parameters: URLSearchParams): void {
  if (
    parameters.getAll('target_session_attrs').some((value) => value !== 'read-write' && value !== 'primary')
  )
    throw new Error(
      `${setting} contains target_session_attrs: it must be read-write or primary, or be removed. dbvitals uses only the primary.`,
    );
}
