import { randomUUID } from 'node:crypto';
import type { TestStore } from '../../../test/support/store.ts';
import type { Gate } from './admit.ts';
import type { Applicant, LogTemplate } from './key-batch.ts';

/** Adds an account whose keys may make `limit` requests a minute. */
export async function addAccount(store: TestStore, limit: number, plan = 'enterprise'): Promise<number> {
  const accountId = await store.account();
  await store.writer.query('update account set plan = $2, requests_per_minute = $3 where account_id = $1', [
    accountId,
    plan,
    limit,
  ]);
  return accountId;
}

/** Adds a key of the account. */
export async function addKey(store: TestStore, accountId: number): Promise<number> {
  const { rows } = await store.writer.query<{ api_key_id: number }>(
    `with added as (
       insert into api_key (account_id, name, hash, last_four, created_at)
       values ($1, 'test', $2, 'last', now()) returning account_id, api_key_id
     )
     insert into key_window (account_id, api_key_id) select * from added returning api_key_id`,
    [accountId, Buffer.from(randomUUID().replaceAll('-', ''), 'utf8')],
  );
  return rows[0]?.api_key_id ?? 0;
}

/** A request of a key that was answered, as the gate is asked to admit it. */
export function request(
  accountId: number,
  apiKeyId: number,
  given: Partial<Applicant> = {},
  told: Partial<LogTemplate> = {},
): Applicant {
  const template = {
    status: 200,
    errorCode: null,
    method: 'GET',
    pagePath: '/api/v1/health/fleet',
    query: null,
    sourceIp: '127.0.0.1',
    userAgent: null,
    ...told,
  };
  return {
    accountId,
    apiKeyId,
    plan: 'enterprise',
    accessVersion: 1,
    generation: null,
    prepared: true,
    template,
    requestId: randomUUID(),
    state: { abandoned: false },
    ...given,
  };
}

/** The account's entries. */
export async function logOf(store: TestStore, accountId: number) {
  const { rows } = await store.writer.query<{ id: number; status: number; at: string; request_id: string }>(
    'select id, status, occurred_at::text as at, request_id from activity where account_id = $1 order by id',
    [accountId],
  );
  return rows;
}

/** The generation of the account's answers. */
export async function generationOf(store: TestStore, accountId: number): Promise<number> {
  const { rows } = await store.writer.query('select generation from account where account_id = $1', [
    accountId,
  ]);
  return rows[0].generation;
}

/** Statements that change what the kept answers show; each takes the account and a text. */
export const changesOfAnswers = (connectionId: number): [string, string][] => [
  ['update account set name = $2 where account_id = $1', 'New name'],
  [
    `insert into member (account_id, name, email, roles, status, joined_at) values ($1, $2, 'a@b.c', '{viewer}', 'active', now())`,
    'A',
  ],
  ['update member set name = $2 where account_id = $1', 'B'],
  ['delete from member where account_id = $1 and name = $2', 'B'],
  ['update connection set name = $2 where account_id = $1', 'C'],
  [
    `insert into health_check (account_id, connection_id, score, summary_text, created_at, findings) values ($1, ${connectionId}, 9, $2, now(), '[]')`,
    'D',
  ],
  [
    `insert into ticket (account_id, connection_id, check_id, category, title, severity, status, metric_line, remediation, first_seen_at, last_seen_at) values ($1, ${connectionId}, 'X', 'schema', $2, 'info', 'open', '', '', now(), now())`,
    'E',
  ],
  ['update ticket set title = $2 where account_id = $1', 'F'],
];

/** A new key, and how to ask the gate for several of its requests at once. */
export async function batchesOfOneKey(store: TestStore, gate: Gate, limit: number) {
  const accountId = await addAccount(store, limit);
  const keyId = await addKey(store, accountId);
  const generation = await generationOf(store, accountId);
  const together = (...given: Partial<Applicant>[]) =>
    Promise.all(given.map((one) => gate.admit(request(accountId, keyId, one))));
  const told = (verdicts: { verdict: string; remaining: number }[]) =>
    verdicts.map(({ verdict, remaining }) => `${verdict} ${remaining}`);
  return { accountId, generation, together, told };
}
