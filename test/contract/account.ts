import { createAccount, createKey } from '../make-accounts.ts';
import { commandJson } from './command.ts';

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
  return createAccount({
    name: 'Contract suite',
    kind,
    plan,
    requests_per_minute: requestsPerMinute ?? null,
  });
}

/** A key that lives for so many seconds, null = until it is revoked. */
export function makeKey(accountId: number, name: string, lifetime: number | null = null): Promise<NewKey> {
  return createKey({ accountId, name, lifetime });
}

/** Fills an account with believable data; give it one whose log is still empty. */
export function fillAccount(
  accountId: number,
  counts: { connections?: number; tickets?: number; activity?: number; days?: number },
): Promise<Record<string, number>> {
  const options = Object.entries(counts).flatMap(([name, count]) => [`--${name}`, String(count)]);
  return commandJson(['sample-data', '--account', String(accountId), '--seed', '7', ...options]);
}
