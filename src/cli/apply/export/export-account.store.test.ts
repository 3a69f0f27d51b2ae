import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startTestStore, type TestStore } from '../../../../test/support/store.ts';
import { changeAccount } from '../../../activity/record-entry.ts';
import { everyCheck } from '../../../checks/catalogue.ts';
import { everySettingsOf } from '../../../connections/connection-changes.ts';
import { removeConnection } from '../../../connections/remove-connection.ts';
import { MOST_RULES } from '../../../notifications/alerts/add-rule.ts';
import { changeRule } from '../../../notifications/alerts/change-rule.ts';
import { listRules } from '../../../notifications/alerts/list-rules.ts';
import { removeRule } from '../../../notifications/alerts/remove-rule.ts';
import { listDestinations } from '../../../notifications/destinations/destination-row.ts';
import { removeDestination } from '../../../notifications/destinations/remove-destination.ts';
import { inTransaction } from '../../../store/connect.ts';
import { within } from '../../../store/read.ts';
import { jsonLine } from '../../print.ts';
import { configurationSchema } from '../configuration-schema.ts';
import { parseDesiredState } from '../desired-state.ts';
import { carryOut, differencesOf, planAccounts } from '../plan-accounts.ts';
import { exportAccount, writeExport } from './export-account.ts';

let store: TestStore;
const secretsDir = mkdtempSync(join(tmpdir(), 'dbvitals-export-'));
beforeAll(async () => {
  store = await startTestStore();
  for (const [file, secret] of Object.entries(SECRETS)) writeSecret(file, secret);
});
afterAll(async () => {
  await store.stop();
  rmSync(secretsDir, { recursive: true });
});

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
/** By the name of the file that the export refers to. */
const SECRETS: Record<string, string> = {
  'shop.password': 'unspoken shop password',
  'shop-two.password': 'unspoken second password',
  'shop.ssh-key': privateKey,
  'hook.url': 'https://hooks.example.com/unspoken-path',
  'hook.authorization': 'Bearer unspoken-header',
  'archive.url': 'https://logs.s3.amazonaws.com/audit/unspoken',
  'archive.authorization': 'ACMEKEY:unspoken-secret-access-key',
  'chat.url': 'https://hooks.slack.com/services/T0/B0/unspoken',
  'pager.routing-key': 'unspokenunspokenunspokenunspoken',
  'true.routing-key': 'unspokenunspokenunspokenunspoken',
  'alive.url': 'https://heartbeat.example.com/unspoken',
  'siem.url': 'https://siem.example.com/unspoken',
};
const writeSecret = (file: string, secret: string) =>
  writeFileSync(join(secretsDir, file), secret, { mode: 0o600 });

const pem = (rootCertificates[0] ?? '').replace(/^/gm, '          ');
/** Everything that a file can hold. */
const FILE = `
accounts:
  - name: Everything
    kind: company
    plan: enterprise
    requests_per_minute: 300
    members:
      - { email: ada@example.com, name: "Ada: *Example*", roles: [owner] }
      - { email: bob@example.com, name: "007", roles: [viewer, auditor], status: invited }
      - { email: eve@example.com, name: Eve, roles: [viewer], status: suspended }
    thresholds: { PG_LONG_QUERY: { warning_seconds: 90 }, OWN_QUEUES: { critical: 5 } }
    tag_thresholds: { "env:test": { PG_CONN_SATURATION: { warning: 0.95, critical: 0.99 } } }
    connections:
      - name: shop
        address: { engine: postgres, host: db.example.com, port: 6432, database: "shop/2 %", username: "w@tcher" }
        password: { file: shop.password }
        every: 1m
        tls: verify-full
        ca_pem: |
${pem}
        expose_password: true
        expected_standbys: 2
        pulse: 5s
        backup_expected: 26h
        query_texts: true
        tags: [env:test, pci]
        ssh: { username: jump, host: jump.example.com, port: 2222, key: { file: shop.ssh-key } }
        thresholds: { PG_DEAD_TUPLES: { warning: 0.3, naps: 6 } }
        silences:
          - { check: OWN_QUEUES, reason: accepted_risk, note: known }
          - { check: PG_NO_PRIMARY_KEY, object: "public.log: 1", reason: accepted_risk, note: append-only, until: 2035-01-31 }
          - { check: PG_CACHE_HIT_LOW, reason: wont_fix, note: "yes" }
      - { name: Shop Two, url: "mysql://watcher@crm.example.com", password: { file: shop-two.password }, tls: require }
      - { name: several, url: "postgres://w@one.example.com:5433,two.example.com/d", tls: require }
      - { name: "s*x", url: "postgres://w@[fd00::1]:5433/d", tls: disable }
      - { name: socket, url: "postgres://w@%2Fvar%2Frun%2Fpostgresql/d" }
      - { name: rds, url: "postgres://w@x.eu-west-1.rds.amazonaws.com/d", ca: aws-rds, token_source: rds }
    destinations:
      - name: hook
        channel: webhook
        url: { file: hook.url }
        authorization: { file: hook.authorization }
        signature: ed25519
        kinds: [alert.triggered, alert.resolved]
        minimum_severity: warning
        connections: [{ name: "s*x" }, shop, "tag:env:test"]
        requests_per_second: 5
        quiet_hours: { from: "22:00", to: "06:00", time_zone: Europe/Berlin }
      - name: chat
        channel: slack
        url: { file: chat.url }
        digest: { every: mon, at: "07:00", time_zone: Europe/Berlin }
      - { name: pager, channel: pagerduty, routing_key: { file: pager.routing-key } }
      - { name: alive, channel: heartbeat, url: { file: alive.url }, method: POST }
      - name: siem
        channel: log_http
        url: { file: siem.url }
        shape: array
        stream: { format: ecs, action_types: [member_signed_in, api_request], excluded_types: [api_request], actors: [member] }
      - name: archive
        channel: s3
        url: { file: archive.url }
        authorization: { file: archive.authorization }
        region: eu-central-1
        encryption: AES256
      - { name: mail, channel: email, recipients: [Zoe@example.com, ada@example.com] }
    alert_rules:
      - name: Full
        when: PG_CONN_SATURATION.connections_used_ratio >= 0.9
        clear: 0.8
        for: 10m
        runs: 3
        severity: critical
        connections: [{ name: "s*x" }, "shop*"]
        destinations: [pager, hook]
        remind: 1h
        enabled: false
      - { name: Down, when: unreachable_seconds >= 10m, remind: none }
      - { name: Score below 50, when: score < 40 }
    maintenance:
      - { name: weekly, every: [sun, mon], at: "02:00", for: 90m, time_zone: Europe/Berlin, connections: [{ name: "s*x" }, shop] }
      - { name: all, every: [fri], at: "10:00", for: 1h }
    checks:
      - id: ORDERS_STUCK
        title: Orders wait
        engine: postgresql
        database: shop
        sql: |
          select count(*) as value
            from orders
        unit: ratio
        operator: "<="
        warning: 0.5
        critical: -0.1
        remediation: |
          First line
          "second"
        every: 15m
        timeout: 10s
        connections: { tags: [shop, env:production] }
      - { id: QUEUES, title: Queues, engine: mysql, sql: select 1 as value, unit: count, operator: ">=", critical: 1 }
`;

const desired = (text: string) =>
  parseDesiredState(text, 'exported.yaml', everyCheck, {
    environment: {},
    dataDir: '/nowhere',
    folder: '.',
    secretVariables: [],
    secretsDir,
    allowPrivateDestinations: false,
  });

/** Applies a file, and returns the id of its account. */
const apply = (text: string) =>
  inTransaction(store.writer, async (client) => {
    const plan = await planAccounts(client, desired(text), store.deps.secret, true);
    return (await carryOut(client, plan))[0] ?? 0;
  });

const planned = (text: string) =>
  inTransaction(store.writer, (client) => planAccounts(client, desired(text), store.deps.secret, false));

/** What a file would change, and what it does not name. */
async function drift(text: string) {
  const plan = await planned(text);
  return [...differencesOf(plan), ...plan.unnamed];
}

const exported = (accountId: number, json = false) =>
  inTransaction(store.writer, async (client) =>
    writeExport(await exportAccount(client, accountId, store.deps.secret), json),
  );

/** Writes the URLs of chat services that an exported file refers to. */
function writeUrls(text: string): void {
  for (const [, file = ''] of text.matchAll(/file: (\S+\.url)$/gm))
    writeSecret(file, SECRETS['chat.url'] ?? '');
}

/** The fields of a schema, such as `accounts.connections.ssh.port`. */
function fieldNames(schema: object, path = ''): string[] {
  const { properties = {}, items, anyOf = [] } = schema as Record<string, object> & { anyOf?: object[] };
  const own = Object.entries(properties as Record<string, object>).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`;
    return name === 'thresholds' ? [at] : [at, ...fieldNames(field, at)];
  });
  return [
    ...own,
    ...(items ? fieldNames(items, path) : []),
    ...anyOf.flatMap((one) => fieldNames(one, path)),
  ];
}

/** The fields of a value, named as in {@link fieldNames}. */
function usedIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => usedIn(item, path));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const at = path === '' ? name : `${path}.${name}`;
    return [at, ...usedIn(part, at)];
  });
}

test('an exported account is no drift, has every field that a file can have, and contains no secret', async () => {
  const id = await apply(FILE);
  const text = await exported(id);
  expect(await drift(text)).toEqual([]);
  expect(await drift(await exported(id, true))).toEqual([]);
  for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret);
  expect(text).not.toContain('unspoken');
  expect(text).not.toContain('PRIVATE KEY');

  const used = new Set(usedIn(parse(text)));
  const unused = new Set(fieldNames(configurationSchema(everyCheck)).filter((field) => !used.has(field)));
  // Other ways to write what the export has.
  const others = ['accounts.connections.url', 'accounts.connections.ca_file'];
  // A file makes no collector: test/contract/collector.test.ts exports a connection of one.
  others.push('accounts.connections.collector', 'accounts.connections.engine');
  expect([...unused].filter((field) => !field.endsWith('.env') && !others.includes(field))).toEqual([
    'accounts.connections.url.file',
  ]);
});

test('an exported account can be made again, and its copy exports the same', async () => {
  const id = await apply(FILE.replace('name: Everything', 'name: Original'));
  const text = (await exported(id)).replace('name: Original', 'name: Copy');
  const copy = await apply(text);
  expect(copy).not.toBe(id);
  expect(await exported(copy)).toBe(text);
  expect(await drift(text)).toEqual([]);
});

test('connections that the console selected by id are exported by name, and are no drift', async () => {
  const id = await apply(FILE.replace('name: Everything', 'name: By id'));
  const selects = (table: string, column: string) =>
    store.writer.query(
      `update ${table} set ${column} = null, connection_ids = (
         select array_agg(connection_id order by connection_id) from connection
          where account_id = $1 and name in ('several', 'socket')) where account_id = $1 and name not in ('alive', 'archive', 'siem')`,
      [id],
    );
  for (const table of ['destination', 'alert_rule', 'maintenance']) await selects(table, 'connection_names');
  const text = await exported(id);
  const { accounts } = parse(text) as { accounts: Record<string, { connections?: string[] }[]>[] };
  for (const list of ['destinations', 'alert_rules', 'maintenance'])
    expect(accounts[0]?.[list]?.[0]?.connections, list).toEqual(['several', 'socket']);
  expect(await drift(text)).toEqual([]);
  // A file that means all connections differs.
  const all = await drift(text.replace(/^ +connections:\n +- several\n +- socket\n/gm, ''));
  expect(new Set(all.map(({ what }) => what))).toEqual(new Set(['destination', 'alert rule', 'maintenance']));
});

/** As people leave an account after years. */
const ODD = `
accounts:
  - name: "- Odd: \\"#1\\" & {sons} | 文字 🦦 \u202e%TAG"
    kind: company
    plan: business
    members:
      - { email: ada@example.com, name: "'yes'", roles: [owner] }
      - { email: "o'brien+tag@example.com", name: "!!null ~", roles: [admin, viewer], status: invited }
      - { email: "ß@example.com", name: "@*&x", roles: [operator], status: suspended }
    thresholds: { PG_DEAD_TUPLES: { warning: 0.0000001, minimum_rows: 0.99999999 } }
    tag_thresholds: { "größe:0x10": { PG_LONG_QUERY: { warning_seconds: 1e+6 } }, "1e3": { PG_LONG_QUERY: { warning_seconds: 61 } } }
    connections:
      - { name: "null", url: "postgres://w@one.example.com/d", tls: require, tags: ["größe:0x10", "1e3", "no"] }
      - { name: "0o17", url: "postgres://w@two.example.com/d", tls: require, tags: [] }
      - name: "x: [y]"
        url: "postgres://w@three.example.com/d"
        tls: require
        silences: [{ check: PG_NO_PRIMARY_KEY, object: '"a""b".c:d #e', reason: wont_fix, note: "- no: #1 \\\\ 'q'" }]
    destinations:
      - { name: "~", channel: slack, url: { file: chat.url }, connections: ["0o17"] }
      - { name: "true", channel: pagerduty, routing_key: { file: pager.routing-key } }
      - { name: mail, channel: email, recipients: [yan@example.org], minimum_severity: critical }
    alert_rules:
      - { name: "=1+1", when: score < 40, destinations: ["~"], connections: ["0o17"] }
      - { name: "both: lists", when: score < 41, destinations: ["~", mail], connections: ["0o17", "null"] }
    maintenance:
      - { name: "%", every: [fri], at: "00:00", for: 6d, connections: ["0o17"] }
`;

test('an account whose connections and destinations were removed or are off, with odd names, is no drift and can be made again', async () => {
  const id = await apply(ODD);
  const run = (text: string) => store.writer.query(text, [id]);
  for (const table of ['destination', 'alert_rule', 'maintenance'])
    await run(`update ${table} x set connection_names = null, connection_ids = (
                 select array_agg(connection_id) from connection c
                  where c.account_id = $1 and c.name = any (x.connection_names))
                where account_id = $1 and connection_names is not null`);
  await changeAccount(store.writer, id, async (change) => {
    const read = within(change.client);
    const destinations = await listDestinations(read, id);
    for (const { id: destinationId, name } of destinations)
      if (name === '~') await removeDestination(change, destinationId);
    for (const connection of await everySettingsOf(change.client, id))
      if (connection.name === '0o17') await removeConnection((work) => work(change), connection.id);
  });
  await run(
    `update destination set state = 'disabled', state_reason = 'x' where account_id = $1 and name = 'mail'`,
  );
  await run(`update destination set state = 'paused' where account_id = $1 and name = 'true'`);

  const text = await exported(id);
  const { accounts } = parse(text) as { accounts: { name: string; alert_rules: { name: string }[] }[] };
  const rules = accounts[0]?.alert_rules.filter(({ name }) => ['=1+1', 'both: lists'].includes(name));
  expect(rules).toMatchObject([
    { destinations: [], connections: [] },
    { destinations: ['mail'], connections: ['null'] },
  ]);
  expect(await drift(text)).toEqual([]);
  expect(await drift(await exported(id, true))).toEqual([]);
  const name = jsonLine(accounts[0]?.name).trim();
  const copy = (await exported(id, true)).replace(`"name":${name}`, '"name":"Copy of odd"');
  const copied = await apply(copy);
  expect(copied).not.toBe(id);
  expect(await exported(copied, true)).toBe(copy);
});

test('a name that is a pattern, or that differs from another only in capitals, is exported so that it means this connection only', async () => {
  const names = ['prod*db', 'prod-eu-db', 'tag:pci', 'Tag:a+', '*', 'Shop', 'shop', 'back\\*slash', 'plain'];
  const connections = names.map(
    (name) =>
      `      - { name: ${JSON.stringify(name)}, url: "postgres://w@x.example.com/d", tls: require, tags: [pci] }`,
  );
  const file = (lists: string) => `
accounts:
  - name: Patterns
    plan: business
    connections:
${connections.join('\n')}
${lists}`;
  const id = await apply(file(''));
  const { rows } = await store.writer.query<{ id: number; name: string }>(
    'select connection_id as id, name from connection where account_id = $1 order by connection_id',
    [id],
  );
  const scoped = (name: string) => `[${JSON.stringify({ name })}, "prod-*"]`;
  const lists = (key: (name: string) => string) => `
    destinations:
${names.map((name, at) => `      - { name: d${at}, channel: slack, url: { file: chat.url }, connections: ${key(name)} }`).join('\n')}
    alert_rules:
${names.map((name, at) => `      - { name: r${at}, when: score < 40, connections: ${key(name)} }`).join('\n')}
    maintenance:
${names.map((name, at) => `      - { name: m${at}, every: [fri], at: "10:00", for: 1h, connections: ${key(name)} }`).join('\n')}`;
  expect(await apply(file(lists(scoped)))).toBe(id);
  for (const table of ['destination', 'alert_rule', 'maintenance']) {
    const { rows: stored } = await store.writer.query(
      `select connection_ids, connection_names from ${table}
        where account_id = $1 and connection_names is not null order by name`,
      [id],
    );
    expect(stored, table).toEqual(
      rows.map((row) => ({ connection_ids: [row.id], connection_names: ['prod-*'] })),
    );
  }
  expect(await drift(file(lists(scoped)))).toEqual([]);
  const text = await exported(id);
  writeUrls(text);
  expect(await drift(text)).toEqual([]);
  const copy = await apply(text.replace('name: Patterns', 'name: Patterns copied'));
  expect(await exported(copy)).toBe(text.replace('name: Patterns', 'name: Patterns copied'));
  const { rows: copied } = await store.writer.query<{ name: string; selected: string[] | null }>(
    `select r.name, array(select c.name from connection c where c.connection_id = any (r.connection_ids)) as selected
       from alert_rule r where r.account_id = $1 and r.name like 'r_' order by r.name`,
    [copy],
  );
  expect(copied.map(({ selected }) => selected)).toEqual(
    names.map((name) => (['prod-eu-db', 'plain'].includes(name) ? [] : [name])),
  );
});

test('an exact name that no connection of the account has is a problem of the file', async () => {
  const file = `
accounts:
  - name: Exact
    plan: business
    connections: []
    alert_rules:
      - { name: A, when: score < 40, connections: [{ name: gone }] }`;
  await expect(apply(file)).rejects.toThrow(
    /:7:38: accounts\[0\]\.alert_rules\[0\]\.connections: The account has no connection with one of these exact names/,
  );
});

test('what names connections that no longer exist is exported, accepted by a new account and named', async () => {
  const id = await apply(`
accounts:
  - name: Gone
    plan: business
    connections:
      - { name: stays, url: "postgres://w@one.example.com/d", tls: require }
      - { name: goes, url: "postgres://w@two.example.com/d", tls: require, tags: [pci] }
    destinations:
      - { name: by id, channel: slack, url: { file: chat.url }, connections: [{ name: goes }] }
      - { name: by name, channel: slack, url: { file: chat.url }, connections: [goes] }
    alert_rules:
      - { name: by name, when: score < 40, connections: [goes] }
      - { name: by tag, when: score < 40, connections: ["tag:pci"] }
    maintenance:
      - { name: by name, every: [fri], at: "10:00", for: 1h, connections: [stays, "go*"] }
`);
  const ids = 'select array_agg(connection_id) from connection where account_id = $1';
  await store.writer.query(
    `update destination set connection_names = null, connection_ids = (${ids} and name = 'goes')
      where account_id = $1 and name = 'by id'`,
    [id],
  );
  await changeAccount(store.writer, id, async (change) => {
    for (const connection of await everySettingsOf(change.client, id))
      if (connection.name === 'goes') await removeConnection((work) => work(change), connection.id);
    for (const rule of await listRules(within(change.client), id))
      if (rule.preset === 'score') await changeRule((work) => work(change), rule.id, { name: 'Low score' });
      else if (rule.preset === 'stale') await removeRule((work) => work(change), rule.id);
  });
  const text = await exported(id);
  writeUrls(text);
  expect(await drift(text)).toEqual([]);
  const copy = await apply(text.replace('name: Gone', 'name: Copy of gone'));
  expect(copy).not.toBe(id);
  expect(await exported(copy)).toBe(text.replace('name: Gone', 'name: Copy of gone'));
  const { unmatched } = await planned(text);
  expect(unmatched.map(({ what, name, connections }) => [what, name, connections])).toEqual([
    ['destination', 'by name', ['goes']],
    ['alert rule', 'by name', ['goes']],
    ['alert rule', 'by tag', ['tag:pci']],
    ['maintenance', 'by name', ['go*']],
  ]);
  // A new account must not be warned of what this one has removed.
  const enabled = (await listRules(within(store.writer), copy)).filter(({ is_enabled }) => is_enabled);
  expect(enabled.map(({ name }) => name)).toEqual([
    'Unreachable for 10 minutes',
    'Low score',
    'by name',
    'by tag',
  ]);
});

test('an account with as many rules as it may have, and none of those that it began with, can be made again', async () => {
  const id = await apply('accounts: [{ name: Many rules, plan: business }]');
  await changeAccount(store.writer, id, async (change) => {
    for (const { id: ruleId } of await listRules(within(change.client), id))
      await removeRule((work) => work(change), ruleId);
  });
  const rules = Array.from({ length: MOST_RULES }, (_, at) => `{ name: r${at}, when: score < 40 }`);
  await apply(`accounts: [{ name: Many rules, plan: business, alert_rules: [${rules.join(', ')}] }]`);
  const text = (await exported(id)).replace('name: Many rules', 'name: Many rules copied');
  expect(await exported(await apply(text))).toBe(text);
});
