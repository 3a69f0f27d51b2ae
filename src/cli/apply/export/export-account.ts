import type pg from 'pg';
import { Document, visit } from 'yaml';
import { type AccountRow, accountColumns, accountOf } from '../../../accounts/account-row.ts';
import { listMembers } from '../../../accounts/members/list-members.ts';
import { everySettingsOf, type StoredConnection } from '../../../connections/connection-changes.ts';
import {
  DEFAULT_PULSE_SECONDS,
  toBackupText,
  toPulseText,
} from '../../../connections/connection-settings.ts';
import type { ConnectionThresholds } from '../../../connections/connection-thresholds.ts';
import type { DatabaseAddress } from '../../../connections/connection-url.ts';
import { listOwnChecks, type StoredOwnCheck } from '../../../connections/own-checks/list-own-checks.ts';
import { readTags } from '../../../connections/tags/connection-tags.ts';
import { listOverrides, type StoredOverride } from '../../../connections/thresholds/list-overrides.ts';
import type { SecretKeys } from '../../../platform/encryption.ts';
import { escapeUnprintable, hexOf } from '../../../platform/text/clean-text.ts';
import { within } from '../../../store/read.ts';
import { silencesInForce } from '../../../tickets/silences/list-silences.ts';
import type { SilenceRow } from '../../../tickets/silences/silence-row.ts';
import { isShippedAuthority } from '../../../vocabulary/hosted/authorities.ts';
import { jsonLine } from '../../print.ts';
import type {
  WrittenAccount,
  WrittenConnection,
  WrittenOwnCheck,
  WrittenSilence,
} from '../configuration-schema.ts';
import { ScopeNames } from '../scopes/scope-names.ts';
import { exportDestinations, exportMaintenance, exportRules } from './export-notifications.ts';
import { SecretPlaces } from './secret-places.ts';

const selectAccount = `select ${accountColumns} from account where account_id = $1`;

/** Says in the file's first lines how to use it. */
const HEAD = ` An account as "dbvitals apply --export" wrote it. It contains no secrets: each is the name of a file in the folder of
 --secrets-dir. Create these files, or write {env: NAME} instead. Without a line "password" or "key", apply keeps the stored one.`;

/** An account of the store as the file of `apply` describes it, all its lists included. */
export async function exportAccount(
  client: pg.ClientBase,
  accountId: number,
  secret: SecretKeys,
): Promise<WrittenAccount> {
  const { name, kind, plan, requests_per_minute } = accountOf(
    (await client.query<AccountRow>(selectAccount, [accountId])).rows,
    accountId,
  );
  const read = within(client);
  const places = new SecretPlaces();
  const connections = await everySettingsOf(client, accountId);
  const names = new Map(connections.map((connection) => [connection.id, connection.name]));
  const scopes = new ScopeNames(names, []);
  const overrides = Map.groupBy(await listOverrides(read, accountId), ({ tag }) => tag);
  const tagged = [...overrides].filter(([tag]) => tag !== '');
  const account: WrittenAccount = {
    name,
    kind,
    plan,
    ...(requests_per_minute !== null && { requests_per_minute }),
    members: (await listMembers(client, accountId)).map(({ email, name, roles, status }) => ({
      email,
      name,
      roles: roles.toSorted(),
      status,
    })),
    thresholds: thresholdsByCheck(overrides.get('') ?? []),
    tag_thresholds: Object.fromEntries(tagged.map(([tag, own]) => [tag, thresholdsByCheck(own)])),
    connections: await exportConnections(client, accountId, connections, places),
    destinations: await exportDestinations(client, accountId, { secret, scopes, places }),
    alert_rules: await exportRules(read, accountId, scopes),
    maintenance: await exportMaintenance(read, accountId, scopes),
    checks: (await listOwnChecks(read, accountId)).map(exportOwnCheck),
  };
  requireDistinct(account);
  return account;
}

/** The file of {@link exportAccount}: YAML, or JSON without the comment, which is YAML too. */
export function writeExport(account: WrittenAccount, json: boolean): string {
  const file = { accounts: [account] };
  if (json) return jsonLine(file);
  const comment = HEAD.split('\n').map((line) => `#${line}\n`);
  return `${comment.join('')}${escapedYaml(file)}`;
}

/** YAML that a terminal shows as it is: names that are older than the rule against such characters are escaped in quotes. */
function escapedYaml(file: object): string {
  const document = new Document(file, { aliasDuplicateObjects: false });
  const encode = (character: string) => `\\U${hexOf(character).padStart(8, '0')}`;
  visit(document, {
    Scalar: (_, node) => {
      const { value } = node;
      if (typeof value === 'string' && escapeUnprintable(value, encode) !== value) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeUnprintable(document.toString({ lineWidth: 0 }), encode);
}

async function exportConnections(
  client: pg.ClientBase,
  accountId: number,
  connections: readonly StoredConnection[],
  places: SecretPlaces,
): Promise<WrittenConnection[]> {
  const tags = await readTags(within(client), accountId);
  const { rows } = await client.query<SilenceRow>(silencesInForce, [accountId, null]);
  const silences = Map.groupBy(rows, ({ connection_id }) => connection_id);
  return connections.map((stored) => ({
    ...exportSettings(stored, places),
    tags: [...(tags.get(stored.id) ?? [])],
    silences: (silences.get(stored.id) ?? []).map(exportSilence),
  }));
}

function exportSettings(stored: StoredConnection, places: SecretPlaces): WrittenConnection {
  const { name, engine, host, port, database, username, connection_type, tls, every, thresholds } = stored;
  const { ca_certificate: authority, ssh_username, ssh_host, ssh_port, token_source } = stored;
  const isSocket = connection_type === 'unix_socket';
  const isCollected = stored.collector !== null;
  return {
    name,
    ...(stored.collector === null
      ? {
          address: {
            engine,
            host,
            ...portField(engine, host, port),
            ...(database && { database }),
            username,
          },
        }
      : { collector: stored.collector, engine }),
    ...(stored.has_password && { password: places.place(name, 'password') }),
    ...(every !== null && { every: `${every}s` }),
    ...(!isSocket && !isCollected && { tls }),
    ...(authority !== null && (isShippedAuthority(authority) ? { ca: authority } : { ca_pem: authority })),
    ...(token_source !== null && { token_source }),
    ...(stored.password_exposable && { expose_password: true }),
    ...(stored.expected_standbys > 0 && { expected_standbys: stored.expected_standbys }),
    ...(stored.pulse_seconds !== DEFAULT_PULSE_SECONDS && { pulse: toPulseText(stored.pulse_seconds) }),
    ...(stored.backup_expected_seconds > 0 && {
      backup_expected: toBackupText(stored.backup_expected_seconds),
    }),
    ...(stored.query_texts && { query_texts: true }),
    ...(ssh_username !== null &&
      ssh_host !== null && {
        ssh: {
          username: ssh_username,
          host: ssh_host,
          ...(ssh_port !== null && { port: ssh_port }),
          ...(stored.has_ssh_key && { key: places.place(name, 'ssh-key') }),
        },
      }),
    ...(Object.keys(thresholds).length > 0 && { thresholds: copy(thresholds) }),
  };
}

/** The port, unless each of several hosts has its own. */
function portField(engine: DatabaseAddress['engine'], host: string, port: number): { port?: number } {
  const isList = engine === 'postgres' && !host.startsWith('/') && host.includes(',');
  return isList ? {} : { port };
}

function exportSilence({ check_id, object, reason, note, until }: SilenceRow): WrittenSilence {
  return {
    check: check_id,
    ...(object !== null && { object }),
    reason,
    note,
    ...(until !== null && { until: until.toISOString() }),
  };
}

function exportOwnCheck({
  database,
  warning,
  critical,
  every,
  timeout,
  tags,
  ...own
}: StoredOwnCheck): WrittenOwnCheck {
  const { id, title, engine, sql, unit, operator, remediation } = own;
  return {
    id,
    title,
    engine,
    ...(database !== null && { database }),
    sql,
    unit,
    operator,
    ...(warning !== null && { warning }),
    ...(critical !== null && { critical }),
    ...(remediation !== '' && { remediation }),
    ...(every !== null && { every: `${every}s` }),
    timeout: `${timeout}s`,
    ...(tags.length > 0 && { connections: { tags: [...tags] } }),
  };
}

function copy(thresholds: ConnectionThresholds): Record<string, Record<string, number>> {
  return Object.fromEntries(Object.entries(thresholds).map(([id, values]) => [id, { ...values }]));
}

function thresholdsByCheck(overrides: readonly StoredOverride[]): Record<string, Record<string, number>> {
  const byCheck = Map.groupBy(overrides, ({ check_id }) => check_id);
  return Object.fromEntries(
    [...byCheck].map(([id, own]) => [id, Object.fromEntries(own.map(({ name, value }) => [name, value]))]),
  );
}

const LISTS = {
  connections: 'connections are named',
  destinations: 'destinations are named',
  alert_rules: 'alert rules are named',
  maintenance: 'recurring maintenance windows are named',
} as const;

/** A file identifies these by name. Throws a sentence if two have the same. */
function requireDistinct(account: WrittenAccount): void {
  for (const list of ['connections', 'destinations', 'alert_rules', 'maintenance'] as const) {
    const names = (account[list] ?? []).map(({ name }) => name);
    const repeated = names.find((name, at) => names.indexOf(name) < at);
    if (repeated !== undefined)
      throw new Error(
        `Two ${LISTS[list]} "${repeated}", and a file tells them apart by name: rename or end one.`,
      );
  }
}
