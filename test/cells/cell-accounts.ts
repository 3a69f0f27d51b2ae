import { fixtureJson } from '../contract/fixture-command.ts';
import type { Environment } from '../contract/running-service.ts';
import type { TestStore } from '../support/store.ts';

/** An account of a cell, with a key. */
export interface CellAccount {
  id: number;
  keyId: number;
  key: string;
}

/** Adds an enterprise account to a cell; `options` are more options of `account create`. */
export async function addAccount(
  environment: Environment,
  cell: number,
  options: string[] = [],
): Promise<CellAccount> {
  const named = ['--name', `of cell ${cell}`, '--plan', 'enterprise', '--cell', String(cell), ...options];
  const { id } = await fixtureJson<{ id: number }>(['account', 'create', ...named], environment);
  const { id: keyId, key } = await fixtureJson<{ id: number; key: string }>(
    ['key', 'create', '--account', String(id), '--name', 'own'],
    environment,
  );
  return { id, keyId, key };
}

/** Adds a member to an account. Returns the id, and the token of a link to join by. */
export async function addMember(
  environment: Environment,
  accountId: number,
  { email, role = 'viewer' }: { email: string; role?: string },
): Promise<{ memberId: number; linkToken: string }> {
  const account = ['--account', String(accountId)];
  const { id: memberId } = await fixtureJson<{ id: number }>(
    ['member', 'add', ...account, '--name', 'Ada', '--email', email, '--role', role],
    environment,
  );
  const { link } = await fixtureJson<{ link: string }>(
    ['member', 'link', ...account, '--member', String(memberId)],
    environment,
  );
  return { memberId, linkToken: link.split('/').at(-1) ?? '' };
}

/** The actions in an account's log in a store, but for API requests, oldest first. */
export async function actionsIn({ writer }: TestStore, accountId: number): Promise<string[]> {
  const { rows } = await writer.query<{ action_type: string }>(
    `select action_type from activity where account_id = $1 and action_type <> 'api_request' order by id`,
    [accountId],
  );
  return rows.map(({ action_type }) => action_type);
}

/** How many rows a store has of a table. */
export async function countIn(
  { writer }: TestStore,
  table: 'login' | 'session' | 'passkey',
): Promise<number> {
  const { rows } = await writer.query<{ count: number }>(`select count(*) from ${table}`);
  return rows[0]?.count ?? -1;
}
