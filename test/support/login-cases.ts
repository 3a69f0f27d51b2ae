import type { Outcome } from '../../src/checks/check.ts';
import { LOGIN_GRANTS } from '../../src/connections/monitoring-login/login-grants.ts';
import type { Engine } from '../../src/vocabulary/engines.ts';

/** The password that replaces the placeholder, as a person does it. */
export const LOGIN_PASSWORD = 'a long password of the login';

/** The choices of grants to test: the default, none, all, and each one alone left out. */
export function grantChoices(engine: Engine): (readonly string[] | undefined)[] {
  const all = LOGIN_GRANTS[engine].map(({ id }) => id);
  return [undefined, [], all, ...all.map((left) => all.filter((id) => id !== left))];
}

/** The checks that the login with these grants is said to skip. */
export function skippedBy(engine: Engine, grants: readonly string[] | undefined): string[] {
  const left = LOGIN_GRANTS[engine].filter(({ id, isDefault }) => !(grants?.includes(id) ?? isDefault));
  return [...new Set(left.flatMap(({ checks }) => checks))].toSorted();
}

/** The checks of a run that lacked a privilege. */
export function withoutPrivilege(outcomes: readonly Outcome[]): string[] {
  const lacking = outcomes.filter(({ findings }) =>
    findings.some(({ missing_grant }) => missing_grant !== undefined),
  );
  return lacking.map(({ check }) => check.id).toSorted();
}
