import type { Difference } from '../apply-step.ts';
import type { ReadFile } from '../configuration-file.ts';
import type { DesiredAccount } from '../desired-state.ts';
import type { Path } from '../schema-problems.ts';
import type { DesiredScope, ScopeNames } from './scope-names.ts';

/** A destination, rule or window with patterns that match no connection of its account. */
export interface Unmatched extends Pick<Difference, 'what' | 'account' | 'name'> {
  connections: string[];
}

interface ScopedItem extends Pick<Difference, 'what' | 'name'> {
  path: Path;
  scope: DesiredScope;
}

function scopedItems({ destinations, alertRules, maintenance }: DesiredAccount): ScopedItem[] {
  return [
    ...(destinations ?? []).map((item) => ({ ...item, what: 'destination' as const })),
    ...(alertRules ?? []).map((item) => ({ ...item, what: 'alert rule' as const })),
    ...(maintenance ?? []).map((item) => ({ ...item, what: 'maintenance' as const })),
  ];
}

/** Notes each exact name that no connection has. */
export function requireExactNames(account: DesiredAccount, scopes: ScopeNames, file: ReadFile): void {
  for (const { path, scope } of scopedItems(account))
    if (!scopes.hasExact(scope))
      file.problem([...path, 'connections'], 'The account has no connection with one of these exact names.');
}

/** The patterns of an account in a file that match no connection. */
export function unmatchedPatterns(account: DesiredAccount, scopes: ScopeNames): Unmatched[] {
  return scopedItems(account).flatMap(({ what, name, scope }) => {
    const connections = scopes.unmatched(scope);
    return connections.length === 0 ? [] : [{ what, account: account.name, name, connections }];
  });
}
