import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/api/app.ts';
import { askEndpoint } from '../../src/api/endpoints/ask-fixture.ts';
import { ROUTES } from '../../src/console-api/routes.ts';
import { hashToken, newToken } from '../../src/platform/token.ts';
import { openPool } from '../../src/store/connect.ts';
import { one } from '../../src/store/one.ts';
import { fixtureJson } from '../contract/fixture-command.ts';
import { type Service, startService } from '../contract/running-service.ts';
import { changeNotifications, type Send } from '../support/change-notifications.ts';
import { writeAlerts } from '../support/console-alerts.ts';
import { writeHistory } from '../support/console-history.ts';
import { consoleReads, insertSession, type OwnRows, selectOwnRows } from '../support/console-reads.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { loggingPlans, type Scan, scansOf } from './logged-plans.ts';
import { type Question, randomQuestions } from './random-questions.ts';

let store: TestStore;
let service: Service;
let environment: Record<string, string>;
let firstKey = '';
let key = '';
/** The account of the key. */
let account = 0;
const FILLED = '--activity 200 --connections 3 --tickets 20 --days 9 --seed 7'.split(' ');

beforeAll(async () => {
  store = await startTestStore(loggingPlans);
  // Without row-level security, every condition in a plan comes from the statement itself.
  const root = await store.superuser('store');
  const { rows } = await root.query(
    `select tablename, policyname from pg_policies where policyname in ('own_account', 'own_login')`,
  );
  for (const { tablename, policyname } of rows)
    await root.query(`alter policy ${policyname} on ${tablename} using (true)`);
  const [{ host, user, password, database } = {}] = store.address;
  environment = {
    DATABASE_URL: `postgres://${user}:${password}@${encodeURIComponent(host ?? '')}/${database}`,
    DBVITALS_SECRET_KEY: '5e'.repeat(32),
  };
  service = await startService(environment, ['--no-monitor']);
  [, firstKey = ''] = await service.says(/API key +(dbv_live_\w{49})/);
  await fixtureJson(['account', 'change', '1', '--requests-per-minute', '100000'], environment);
  for (const name of ['full', 'other']) {
    const { id } = await fixtureJson<{ id: number }>(
      ['account', 'create', '--name', name, '--plan', 'enterprise', '--requests-per-minute', '100000'],
      environment,
    );
    await fixtureJson(['sample-data', '--account', String(id), ...FILLED], environment);
    const made = await fixtureJson<{ key: string }>(
      ['key', 'create', '--account', String(id), '--name', 'own'],
      environment,
    );
    key = made.key;
    account = id;
  }
});

afterAll(async () => {
  await service.stop();
  await store.stop();
});

/** Starts the service again: its own rounds, which read all accounts, begin half a minute later. */
async function restart(): Promise<void> {
  await service.stop();
  service = await startService(environment, ['--no-monitor']);
}

async function ask(path: string, token = key): Promise<unknown> {
  const answer = await fetch(service.origin + path, { headers: { authorization: `Bearer ${token}` } });
  const body: unknown = await answer.json();
  expect(answer.status, `${path}: ${JSON.stringify(body)}`).toBeLessThan(500);
  return body;
}

/** All combinations of the parameters' values; null omits the parameter. */
function combinations(choices: Record<string, (string | null)[]>): string[] {
  let queries: string[] = [''];
  for (const [name, values] of Object.entries(choices)) {
    queries = queries.flatMap((query) =>
      values.map((value) => (value === null ? query : `${query}&${name}=${value}`)),
    );
  }
  return queries.map((query) => `?per_page=5${query}`);
}

/** The service's own rounds, which serve all accounts. */
const ROUNDS = ['dbvitals dispatcher', 'dbvitals alerts', 'dbvitals digests'];

/** The scans that would read rows of other accounts. */
function withoutAccount(scans: Scan[]): Scan[] {
  return scans.filter(
    ({ conditions, pool }) => !ROUNDS.includes(pool) && !/\baccount_id = /.test(conditions),
  );
}

describe('every statement that a request causes names its account', () => {
  test('for each table, in each endpoint, whatever its parameters, and in the gate', async () => {
    await restart();
    const { data } = (await ask('/api/v1/health/connections')) as { data: { id: number }[] };
    const id = String(data[0]?.id);
    const days = { from: [null, '2020-01-01'], to: [null, '2090-01-01', '2026-01-01'], page: [null, '2'] };
    const paths = [
      '/api/v1/health/connections',
      '/api/v1/health/connections?page=2&per_page=2',
      `/api/v1/health/connections/${id}/checks/latest`,
      '/api/v1/health/connections/1/checks/latest',
      '/api/v1/health/fleet',
      '/api/v1/ops/stats',
      '/api/v1/team/members',
      '/api/v1/team/roles',
      ...combinations({
        status: [null, 'open'],
        severity: [null, 'critical'],
        connection_id: [null, id],
        ...days,
      }).map((query) => `/api/v1/ops/tickets${query}`),
      ...combinations({
        order: [null, 'asc'],
        tag: [null, 'pci'],
        check_id: [null, 'PG_DEAD_TUPLES'],
        updated_since: [null, '2026-01-01'],
        include: ['measured,triage,tags,url'],
      }).map((query) => `/api/v1/ops/tickets${query}`),
      ...combinations({ tag: [null, 'pci'], include: [null, 'tags,version,open_tickets'] }).flatMap(
        (query) => [
          `/api/v1/health/connections${query}`,
          `/api/v1/health/fleet${query.replace('per_page=5', '_=1')}`,
        ],
      ),
      ...combinations({
        action_type: [null, 'api_request', 'ticket_opened', 'no_such'],
        ...days,
        order: [null, 'asc'],
        after_id: [null, '7'],
      }).map((query) => `/api/v1/activity${query}`),
      ...combinations({
        action_type: [null, 'api_request&action_type=ticket_opened'],
        exclude_action_type: ['api_request', 'health_check_completed'],
        include: ['actor'],
        to: [null, '2026-01-01'],
      }).map((query) => `/api/v1/activity${query}`),
      ...['measures', 'measures/history?metric=connections_used_ratio', 'changes', 'queries', 'episodes'].map(
        (list) => `/api/v1/health/connections/${id}/${list}`,
      ),
      '/api/v1/health/measures?metric=connections_used_ratio',
      '/api/v1/health/measures?metric=connections_used_ratio&tag=pci&page=2',
      ...combinations({ ...days, tag: [null, 'pci'] }).map((query) => `/api/v1/health/changes${query}`),
      ...combinations({ ...days, status: [null, 'open'], connection_id: [null, id] }).map(
        (query) => `/api/v1/ops/alerts${query}`,
      ),
      '/api/v1/activity/seals?page=2',
      '/api/v1/nothing',
      '/api/v1/ops/tickets?status=wrong',
      ...randomQuestions(ENDPOINTS, { accountId: account, connections: [Number(id), 2] }, 4).map(
        ({ endpoint, id: of, asked }) => `/api/v1${endpoint.path.replace(':id', String(of))}?${asked}`,
      ),
    ];
    const scans = await scansOf(store, async () => {
      await ask('/api/v1/health/fleet', firstKey);
      for (const path of paths) await ask(path);
    });
    const seen = new Set(scans.map(({ table }) => table));
    const shown = [
      'account',
      'activity',
      'activity_head',
      'api_key',
      'connection',
      'health_check',
      'key_window',
    ];
    expect([...seen]).toEqual(expect.arrayContaining([...shown, 'member', 'ticket']));
    // The lookup of a key is the only statement that searches all accounts, because it finds the account.
    const without = withoutAccount(scans);
    expect(without.length).toBeGreaterThan(0);
    expect(
      without.filter(({ table, conditions }) => table !== 'api_key' || !/\bhash = /.test(conditions)),
    ).toEqual([]);
  });

  test('a statement that names no account is found, in a join, in a function and in a sub-select', async () => {
    const root = await store.superuser('store');
    await root.query(`
      create function leak() returns bigint language plpgsql stable as $$
      begin return (select count(*) from member where status = 'active'); end $$`);
    const scans = await scansOf(store, () =>
      root.query(`
        select c.name, h.score, leak(), (select max(ticket_id) from ticket)
          from connection c
          left join health_check h on h.health_check_id = c.latest_check_id
         where c.account_id = 1`),
    );
    expect(withoutAccount(scans).map(({ table }) => table)).toEqual(
      expect.arrayContaining(['health_check', 'member', 'ticket']),
    );
    expect(withoutAccount(scans).map(({ table }) => table)).not.toContain('connection');
  });
});

const selectNextConnection = `
  select coalesce(last_value, 0) + 1 as id
    from pg_sequences
   where pg_get_serial_sequence('connection', 'connection_id') = schemaname || '.' || sequencename`;

describe('no combination of parameters shows what another account has', () => {
  test('the answers are the same whether there is another account or not', async () => {
    // Its rounds would seal the log meanwhile.
    await service.stop();
    const reader = openPool(store.address, 'reader', { max: 4, pipeline: true });
    const root = await store.superuser('store');
    const own = await root.query<{ id: number }>(
      'select min(connection_id) as id from connection where account_id = $1',
      [account],
    );
    const foreign = Number(one((await root.query(selectNextConnection)).rows, 'find the next connection').id);
    const subjects = {
      accountId: account,
      connections: [Number(one(own.rows, 'find a connection').id), foreign] as const,
    };
    const questions = randomQuestions(ENDPOINTS, subjects, 30);
    const answers = () =>
      Promise.all(
        questions.map(async ({ endpoint, id, asked }: Question) => {
          const { body, error } = await askEndpoint(reader, endpoint, account, { id, asked });
          return { path: endpoint.path, id, asked, body, error };
        }),
      );
    const before = await answers();
    const answered = before.filter(({ error }) => error === null);
    expect(new Set(answered.map(({ path }) => path)).size).toBe(ENDPOINTS.length);
    expect(before.filter(({ id }) => id === foreign).every(({ error }) => error !== null)).toBe(true);

    const { id: other } = await fixtureJson<{ id: number }>(
      ['account', 'create', '--name', 'later', '--plan', 'enterprise'],
      environment,
    );
    await fixtureJson(['sample-data', '--account', String(other), ...FILLED], environment);
    const theirs = await root.query('select account_id from connection where connection_id = $1', [foreign]);
    expect(theirs.rows).toEqual([{ account_id: other }]);
    expect(await answers()).toEqual(before);
    await reader.end();
    service = await startService(environment, ['--no-monitor']);
  });
});

/** Lookups by a unique key before the account is known, and the data of a session or a login. */
const LOOKUPS: Record<string, RegExp> = {
  session: /\(token_hash = |\(session_id = |\(login_id = /,
  login: /\(login_id = |lower\(\(?email/,
  link: /\(token_hash = /,
  destination_recipient: /\(token_hash = |\(email = /,
  unsubscribed: /\(email_hash = /,
  asked_inbox: /\(inbox_hash = /,
  passkey: /\(credential_id = |\(login_id = /,
  member: /\(login_id = |lower\(\(?email/,
  sign_in_failure: /\(failure_id = |\(address = |\(device = /,
};

/** The writer's statements in a member's read: it finds and touches the session, waits for the log, counts, and records an export. */
const WRITES_OF_A_READ =
  /where s\.token_hash = \$1|^select member_id as|^update (?:session|member) set last_|for key share|into key_(?:hour|day|counted)|left join key_counted|where account_id = account\b|^select greatest\(clock_timestamp|^select from session s|^select roles|^with entry as|FOR KEY SHARE/;

describe('every statement of the console names its account or its person', () => {
  test('in each route', async () => {
    await restart();
    let token = newToken();
    const { rows: signedIn } = await store.writer.query(insertSession, [
      account,
      'owner@example.com',
      hashToken(token),
    ]);
    expect(signedIn).toEqual([]);
    const { rows } = await store.writer.query<OwnRows>(selectOwnRows, [account]);
    const own = one(rows, 'find own rows');
    own.alert = await writeAlerts(store.writer, { accountId: account, connectionId: own.connection });
    await writeHistory(store.writer, { accountId: account, connectionId: own.connection }, 1);
    const text = [account, own.connection];
    await store.writer.query(
      'update connection set query_texts = true where account_id = $1 and connection_id = $2',
      text,
    );
    await store.writer.query("insert into query_text values ($1, $2, '1', 'select $1', now())", text);
    const asked = new Set<string>();
    const send = async (route: string, path: string, body?: object): Promise<Record<string, unknown>> => {
      asked.add(route);
      const [method = ''] = route.split(' ');
      const answer = await fetch(`${service.origin}/console/api${path}`, {
        method,
        redirect: 'manual',
        headers: {
          cookie: `dbvitals_session=${token}`,
          ...(method !== 'GET' && { origin: service.origin }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      // After a new proof or password the session has another token.
      token = /dbvitals_session=([\w-]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? token;
      expect(answer.status, `${route}: ${text}`).toBeLessThan(500);
      return text.startsWith('{') && text.endsWith('}') ? JSON.parse(text) : {};
    };
    const reads = await scansOf(store, async () => {
      for (const read of consoleReads(own)) await send(...read);
    });
    const changes = await scansOf(store, () => changeEverything(send, own));

    expect(
      ROUTES.map(({ method, path }) => `${method} ${path}`).filter((route) => !asked.has(route)),
    ).toEqual([]);
    const known = ({ table, conditions }: Scan) => LOOKUPS[table]?.test(conditions) === true;
    expect(withoutAccount([...reads, ...changes]).filter((scan) => !known(scan))).toEqual([]);
    // Pages are read by the role that sees only one account or one person.
    expect(reads.filter(({ pool }) => pool === 'dbvitals console').length).toBeGreaterThan(50);
    const byWriter = reads
      .filter(({ pool }) => pool === 'dbvitals writer')
      .map(({ statement }) => statement.trim());
    expect(byWriter.filter((statement) => !WRITES_OF_A_READ.test(statement))).toEqual([]);
  });
});

async function changeViews(send: Send): Promise<void> {
  for (const path of ['/views', '/shared-views']) {
    const view = await send(`POST ${path}`, path, {
      page: 'fleet',
      name: 'Critical',
      query: 'status=critical',
    });
    await send(`PATCH ${path}/:id`, `${path}/${view['id']}`, { name: 'Worst' });
    await send(`DELETE ${path}/:id`, `${path}/${view['id']}`);
  }
}

async function changeOwnChecks(send: Send, own: OwnRows): Promise<void> {
  const judged = {
    ...{ sql: 'select 1 as value', database: null, unit: 'count', operator: '>=' },
    ...{ warning: 1, critical: null, timeout: 5 },
  };
  const definition = { ...judged, title: 'Own', engine: 'postgres', remediation: '', every: null, tags: [] };
  const added = await send('POST /own-checks', '/own-checks', { id: 'OWN', ...definition });
  await send('PATCH /own-checks/:check', '/own-checks/OWN', {
    ...definition,
    warning: 2,
    seen: added['changed_at'],
  });
  await send('DELETE /own-checks/:check', '/own-checks/OWN');
  await send('POST /own-checks/try', '/own-checks/try', { connection_id: own.connection, ...judged });
}

/** Calls every route that changes data, and the routes without a session. Ends the session last. */
async function changeEverything(send: Send, own: OwnRows): Promise<void> {
  const { version } = await send('GET /account', '/account');
  await send('PATCH /account', '/account', { version, name: 'other' });
  const made = await send('POST /keys', '/keys', { name: 'made', expires_in: null });
  await send('PATCH /keys/:id', `/keys/${made['id']}`, { version: 1, scopes: ['health'] });
  const next = await send('POST /keys/:id/regenerate', `/keys/${made['id']}/regenerate`, { overlap: 0 });
  await send('POST /keys/:id/revoke', `/keys/${next['id']}/revoke`, { name: 'made' });
  const enrolled = await send('POST /collectors', '/collectors', { name: 'made' });
  await send('POST /collectors/connections', '/collectors/connections', {
    name: 'collected',
    collector: 'made',
    engine: 'postgres',
  });
  await send('POST /collectors/:id/revoke', `/collectors/${enrolled['id']}/revoke`);
  await changeNotifications(send, own);
  await changeViews(send);
  const invited = await send('POST /members', '/members', {
    name: 'Ada',
    email: 'ada@example.com',
    roles: ['viewer'],
  });
  const { id, version: before } = invited['member'] as { id: number; version: string };
  await send('PATCH /members/:id', `/members/${id}`, { version: before, roles: ['auditor'] });
  const { url } = await send('POST /members/:id/link', `/members/${id}/link`);
  const link = String(url).split('/').at(-1);
  await send('GET /link/:token', `/link/${link}`);
  await send('POST /link/:token', `/link/${link}`, { password: 'correct horse battery staple' });
  await send('DELETE /members/:id', `/members/${id}`);
  const address = { engine: 'postgres', host: '127.0.0.1', port: 1, username: 'nobody' };
  const added = await send('POST /connections', '/connections', {
    name: 'new',
    address,
    password: 'unspoken',
  });
  const path = `/connections/${added['id']}`;
  const changed = { version: added['version'], name: 'newer' };
  await send('POST /connections/:id/test', `${path}/test`, changed);
  await send('PATCH /connections/:id', path, changed);
  await send('PATCH /connections/:id', path, changed); // an outdated version
  await send('POST /connections/:id/run', `${path}/run`);
  await send('POST /connections/:id/queries/texts', `/connections/${own.connection}/queries/texts`, {
    queries: ['1'],
  });
  const tagged = { connections: [own.connection], add: ['pci'] };
  await send('POST /connections/tags', '/connections/tags', tagged);
  await send('POST /connections/:id/heartbeat', `/connections/${own.connection}/heartbeat`);
  await send('DELETE /connections/:id/heartbeat', `/connections/${own.connection}/heartbeat`);
  const silenced = await send('POST /connections/:id/silences', `/connections/${own.connection}/silences`, {
    check_id: 'CONN_UNREACHABLE',
    reason: 'false_positive',
    note: 'sample',
  });
  await send('DELETE /silences/:id', `/silences/${silenced['id']}`);
  await send('POST /silences/end', '/silences/end', { ids: [silenced['id']] });
  await send('POST /silences/resume', '/silences/resume', { ids: [silenced['id']] });
  await send('POST /silences/:id/undo', `/silences/${silenced['id']}/undo`);
  const thresholds = { PG_CONN_SATURATION: { warning: 0.7 }, PG_DEAD_TUPLES: { warning: 0.2 } };
  for (const of of [{}, { tag: 'pci' }, { connections: [own.connection] }]) {
    await send('POST /thresholds/preview', '/thresholds/preview', { ...of, thresholds });
    await send('POST /thresholds', '/thresholds', { ...of, thresholds });
  }
  await changeOwnChecks(send, own);
  const tickets = [{ id: own.ticket, version: 0 }];
  await send('POST /tickets/triage', '/tickets/triage', { tickets, acknowledged: true, assignee_id: null });
  await send('POST /tickets/triage/undo', '/tickets/triage/undo', {
    tickets: [{ id: own.ticket, version: 1 }],
  });
  const comments = `/tickets/${own.ticket}/comments`;
  const comment = await send('POST /tickets/:id/comments', comments, { body: '@owner@example.com' });
  await send('DELETE /ticket-comments/:id', `/ticket-comments/${comment['id']}`);
  await send('PATCH /onboarding', '/onboarding', { finding_read: true, dismissed: true });
  await send('POST /sample-data/remove', '/sample-data/remove');
  await send('DELETE /connections/:id', path);
  await send('POST /connections/test', '/connections/test', { address, password: 'unspoken' });
  await send('POST /me/account', '/me/account', { id: account });
  await send('GET /invitations', '/invitations');
  await send('POST /invitations/:id/accept', `/invitations/${account}/accept`);
  await send('POST /invitations/:id/decline', `/invitations/${account}/decline`);
  await send('POST /me/proof/passkey/options', '/me/proof/passkey/options');
  await send('POST /me/password', '/me/password', { next: 'correct horse battery staple' });
  await send('POST /me/proof', '/me/proof', { password: 'correct horse battery staple' });
  const passkey = { id: 'AA', rawId: 'AA', type: 'public-key' };
  const bytes = { clientDataJSON: 'AA', authenticatorData: 'AA', signature: 'AA', userHandle: 'AA' };
  await send('POST /me/passkeys', '/me/passkeys', {
    name: 'none',
    response: { ...passkey, response: { clientDataJSON: 'AA', attestationObject: 'AA' } },
  });
  await send('DELETE /me/passkeys/:passkey', '/me/passkeys/AA');
  await send('POST /sign-in/passkey/options', '/sign-in/passkey/options');
  await send('POST /sign-in/passkey', '/sign-in/passkey', { response: { ...passkey, response: bytes } });
  await send('POST /me/proof/passkey', '/me/proof/passkey', { response: { ...passkey, response: bytes } });
  await send('GET /sign-in', '/sign-in');
  await send('GET /sign-in/oidc', '/sign-in/oidc');
  await send('GET /sign-in/oidc/callback', '/sign-in/oidc/callback?code=x&state=x');
  await send('DELETE /sessions/:id', '/sessions/999999');
  await send('POST /sign-in', '/sign-in', { email: 'owner@example.com', password: 'a wrong one' });
  await send('POST /sign-in', '/sign-in', {
    email: 'owner@example.com',
    password: 'correct horse battery staple',
  });
  await send('DELETE /sessions', '/sessions');
  await send('POST /sign-out', '/sign-out');
}
