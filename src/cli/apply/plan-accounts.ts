import type pg from 'pg';
import { type AccountRow, accountColumns } from '../../accounts/account-row.ts';
import { addAccountWithin } from '../../accounts/add-account.ts';
import { changeSettings } from '../../accounts/change-account.ts';
import { changeWithin } from '../../activity/record-entry.ts';
import type { SecretKeys } from '../../platform/encryption.ts';
import { changesOf, type Difference, type Step } from './apply-step.ts';
import type { DesiredAccount, DesiredState } from './desired-state.ts';
import { planAlertRules } from './plan-alert-rules.ts';
import { planConnections } from './plan-connections.ts';
import { planDestinations } from './plan-destinations.ts';
import { planMaintenance } from './plan-maintenance.ts';
import { planMembers } from './plan-members.ts';
import { planOwnChecks } from './plan-own-checks.ts';
import { noteContradictions, planThresholds } from './plan-thresholds.ts';
import { readScopeNames } from './scopes/scope-names.ts';
import { requireExactNames, type Unmatched, unmatchedPatterns } from './scopes/unmatched-scopes.ts';

/** The steps that bring the accounts of a store to the desired state, in the order of the file. */
export interface Plan {
  accounts: AccountPlan[];
  /** What the store has and the file does not name. It stays because `--prune` was not given. */
  unnamed: Difference[];
  /** Patterns of the file that match no connection. They may match one later. */
  unmatched: Unmatched[];
}

interface AccountPlan {
  /** Null for a new account. */
  id: number | null;
  wanted: DesiredAccount;
  steps: Step[];
}

const named = `select ${accountColumns} from account where name = any($1) order by account_id`;

/**
 * Compares a file with the store, without locks. Throws an `InvalidFile` if the store can't reach the desired state.
 */
export async function planAccounts(
  client: pg.ClientBase,
  { accounts, file }: DesiredState,
  secret: SecretKeys,
  prune: boolean,
): Promise<Plan> {
  const { rows } = await client.query<AccountRow>(named, [accounts.map(({ name }) => name)]);
  const known = Map.groupBy(rows, ({ name }) => name);
  const plan: Plan = { accounts: [], unnamed: [], unmatched: [] };
  for (const wanted of accounts) {
    const [before, second] = known.get(wanted.name) ?? [];
    if (before && second) {
      const ids = `${before.id} and ${second.id}`;
      file.problem(wanted.path, `Accounts ${ids} share this name: rename one with "account change".`);
    }
    if (before && wanted.kind && wanted.kind !== before.kind)
      file.problem([...wanted.path, 'kind'], `The kind of an account can't change: it is ${before.kind}.`);
    const of = { id: before?.id ?? null, name: wanted.name };
    const destinations = wanted.destinations?.map((destination) => destination.name) ?? [];
    const scopes = await readScopeNames(client, of.id, wanted.connections, prune);
    requireExactNames(wanted, scopes, file);
    plan.unmatched.push(...unmatchedPatterns(wanted, scopes));
    const lists = [
      wanted.members &&
        (await planMembers(client, of, { members: wanted.members, path: wanted.path }, { file, prune })),
      wanted.connections && (await planConnections(client, of, wanted.connections, { secret, file })),
      wanted.destinations &&
        (await planDestinations(client, of, wanted.destinations, { secret, file, scopes })),
      wanted.alertRules &&
        (await planAlertRules(client, of, wanted.alertRules, { file, named: destinations, scopes })),
      wanted.maintenance && (await planMaintenance(client, of, wanted.maintenance, scopes)),
      wanted.ownChecks && (await planOwnChecks(client, of, wanted.ownChecks)),
      await planThresholds(client, of, wanted.thresholds),
    ].filter((list) => list !== null);
    const unnamed = lists.flatMap((list) => list.unnamed);
    const steps = [...lists.flatMap((list) => list.wanted), ...(prune ? unnamed : [])];
    if (steps.some(changesThresholds))
      await noteContradictions(client, { ...wanted, id: of.id }, { file, prune });
    plan.accounts.push({ id: of.id, wanted, steps: [...accountStep(before, wanted), ...steps] });
    if (!prune) plan.unnamed.push(...unnamed.map(({ difference }) => difference));
  }
  file.throwProblems();
  return plan;
}

/** Whether a step may put the levels of a check in another order. */
function changesThresholds({ difference: { what, changed } }: Step): boolean {
  return (
    what === 'thresholds' ||
    what === 'own check' ||
    changed.some((name) => name === 'thresholds' || name === 'tags')
  );
}

function accountStep(before: AccountRow | undefined, wanted: DesiredAccount): Step[] {
  const { name, plan, kind = before?.kind ?? 'company', requests_per_minute } = wanted;
  const changes = changesOf({ ...before }, { plan, kind, requests_per_minute });
  if (changes.changed.length === 0) return [];
  const { to } = changes;
  return [
    {
      difference: { action: before ? 'change' : 'add', what: 'account', account: name, name, ...changes },
      make: async (change) => {
        if (!before) return; // the account is created before its changes
        await changeSettings(change, {
          ...(to.plan && { plan: to.plan }),
          ...(to.requests_per_minute !== undefined && { requestsPerMinute: to.requests_per_minute }),
        });
      },
    },
  ];
}

/** The differences that a plan resolves. */
export function differencesOf({ accounts }: Plan): Difference[] {
  return accounts.flatMap(({ steps }) => steps.map(({ difference }) => difference));
}

// The lock for applying a file. The number is arbitrary.
const APPLYING = 5_809;
const lockApplying = `select pg_advisory_xact_lock(${APPLYING})`;

// Locks all at once, in the same order as every other statement that locks several.
const lockHeads = 'select from activity_head where account_id = any($1) order by account_id for update';

/** Locks the accounts that a plan changes until the transaction ends. */
export async function lockAccounts(client: pg.ClientBase, { accounts }: Plan): Promise<void> {
  await client.query(lockApplying);
  const ids = accounts.flatMap(({ id, steps }) => (id === null || steps.length === 0 ? [] : [id]));
  await client.query(lockHeads, [ids]);
}

/** Carries out a plan in the caller's transaction. Returns the ids of the accounts, in the order of the file. */
export async function carryOut(client: pg.ClientBase, { accounts }: Plan): Promise<number[]> {
  const ids: number[] = [];
  for (const { id: known, wanted, steps } of accounts) {
    const { name, kind = 'company', plan, requests_per_minute } = wanted;
    const id = known ?? (await addAccountWithin(client, { name, kind, plan, requests_per_minute })).id;
    ids.push(id);
    if (steps.length === 0) continue;
    await changeWithin(client, id, async (change) => {
      for (const { make } of steps) await make(change);
    });
  }
  return ids;
}
