import { fixtureJson } from './fixture-command.ts';

export type Plan = 'individual' | 'team' | 'business' | 'enterprise';

export interface Account {
  id: number;
  /** Of a key named "suite". */
  key: string;
  keyId: number;
}

export interface NewKey {
  id: number;
  name: string;
  key: string;
}

/** An account of the suite's own with a key; an enterprise account gets a limit that no test meets unless given. */
export async function makeAccount(
  options: { plan?: Plan; kind?: 'company' | 'individual'; requestsPerMinute?: number } = {},
): Promise<Account> {
  const id = await makeKeylessAccount(options);
  const { key, id: keyId } = await makeKey(id, 'suite');
  return { id, key, keyId };
}

/** An account whose log holds nothing but its making. */
export async function makeKeylessAccount({
  plan = 'enterprise',
  kind = 'company',
  requestsPerMinute = plan === 'enterprise' ? 100_000 : undefined,
}: {
  plan?: Plan;
  kind?: 'company' | 'individual';
  requestsPerMinute?: number;
} = {}): Promise<number> {
  const limit = requestsPerMinute === undefined ? [] : ['--requests-per-minute', `${requestsPerMinute}`];
  const words = ['account', 'create', '--name', 'Contract suite', '--kind', kind, '--plan', plan, ...limit];
  const { id } = await fixtureJson<{ id: number }>(words);
  return id;
}

/** A key that lives for so many seconds, null = until it is revoked. */
export function makeKey(accountId: number, name: string, lifetime: number | null = null): Promise<NewKey> {
  const expiry = lifetime === null ? [] : ['--expires-in', `${lifetime}s`];
  return fixtureJson(['key', 'create', '--account', `${accountId}`, '--name', name, ...expiry]);
}

/** A new member, and the token of a link to sign in by. */
export async function makeMember({
  accountId,
  name,
  email,
  roles,
}: {
  accountId: number;
  name: string;
  email: string;
  roles: readonly string[];
}): Promise<{ memberId: number; linkToken: string }> {
  const account = ['--account', `${accountId}`];
  const given = roles.flatMap((role) => ['--role', role]);
  const { id: memberId } = await fixtureJson<{ id: number }>([
    'member',
    'add',
    ...account,
    '--name',
    name,
    '--email',
    email,
    ...given,
  ]);
  const { link } = await fixtureJson<{ link: string }>([
    'member',
    'link',
    ...account,
    '--member',
    `${memberId}`,
  ]);
  return { memberId, linkToken: /\/link\/([\w-]{43})$/.exec(link)?.[1] ?? '' };
}

/** Fills an account with believable data; give it one whose log is still empty. */
export function fillAccount(
  accountId: number,
  counts: { connections?: number; tickets?: number; activity?: number; days?: number },
): Promise<Record<string, number>> {
  const options = Object.entries(counts).flatMap(([name, count]) => [`--${name}`, String(count)]);
  return fixtureJson(['sample-data', '--account', String(accountId), '--seed', '7', ...options]);
}
