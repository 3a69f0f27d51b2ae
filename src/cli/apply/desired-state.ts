import type { NewAccount } from '../../accounts/add-account.ts';
import type { MemberRow } from '../../accounts/members/member-row.ts';
import type { OwnCheck } from '../../checks/own/own-check.ts';
import { emailOf, textOf } from '../arguments.ts';
import type { Catalogue } from '../command.ts';
import { ownChecksIn } from '../own-checks/own-check-schema.ts';
import { noteRepeated, type ReadFile, readFile } from './configuration-file.ts';
import { configurationSchema, type WrittenAccount } from './configuration-schema.ts';
import { connectionsIn, type DesiredConnection } from './parse-connections.ts';
import { alertRulesIn, type DesiredRule } from './plan-alert-rules.ts';
import { type DesiredDestination, destinationsIn } from './plan-destinations.ts';
import { type DesiredMaintenance, maintenanceIn } from './plan-maintenance.ts';
import { type DesiredThresholds, thresholdsIn } from './plan-thresholds.ts';
import type { Path } from './schema-problems.ts';
import type { Surroundings } from './secrets/resolve-secrets.ts';

/** The desired state of an account. A list that the file does not contain is null, and stays unchanged. */
export interface DesiredAccount extends Omit<NewAccount, 'kind'> {
  path: Path;
  /** The kind of a new account (default: company). An existing account keeps its kind. */
  kind: NewAccount['kind'] | undefined;
  members: DesiredMember[] | null;
  connections: DesiredConnection[] | null;
  alertRules: DesiredRule[] | null;
  destinations: DesiredDestination[] | null;
  maintenance: DesiredMaintenance[] | null;
  ownChecks: OwnCheck[] | null;
  thresholds: DesiredThresholds;
}

export interface DesiredMember extends Pick<MemberRow, 'name' | 'email' | 'roles'> {
  /** Undefined = unchanged; a new member is active. */
  status: MemberRow['status'] | undefined;
}

/** The desired accounts, and the file, to note problems that only the store shows. */
export interface DesiredState {
  accounts: DesiredAccount[];
  file: ReadFile;
}

/**
 * Parses a YAML text: validates every field like the commands do, and reads every secret. It does not use the store.
 * Messages call the file `name`. Throws an `InvalidFile` with all problems.
 */
export function parseDesiredState(
  text: string,
  name: string,
  checks: Catalogue['checks'],
  surroundings: Surroundings,
): DesiredState {
  const { value, file } = readFile(text, name, configurationSchema(checks));
  const written = value.accounts;
  noteRepeated(file, ['accounts'], written, 'name', (account) => account.name.trim());
  const accounts = written.map((account, at) => accountIn(file, ['accounts', at], account, surroundings));
  file.throwProblems();
  return { accounts, file };
}

function accountIn(
  file: ReadFile,
  path: Path,
  written: WrittenAccount,
  surroundings: Surroundings,
): DesiredAccount {
  const { name, kind, plan, requests_per_minute, members, connections } = written;
  const { alert_rules, destinations, maintenance, checks } = written;
  file.attempt([...path, 'name'], () => textOf('The name')(name));
  if (requests_per_minute !== undefined && plan !== 'enterprise') {
    const sentence = 'Only the enterprise plan can have its own limit: leave it out.';
    file.problem([...path, 'requests_per_minute'], sentence);
  }
  return {
    path,
    name: name.trim(),
    kind,
    plan,
    requests_per_minute: requests_per_minute ?? null,
    members: members ? membersIn(file, [...path, 'members'], members) : null,
    connections: connections
      ? connectionsIn(file, [...path, 'connections'], connections, surroundings)
      : null,
    alertRules: alert_rules ? alertRulesIn(file, [...path, 'alert_rules'], alert_rules) : null,
    destinations: destinations
      ? destinationsIn(file, [...path, 'destinations'], destinations, surroundings)
      : null,
    maintenance: maintenance ? maintenanceIn(file, [...path, 'maintenance'], maintenance) : null,
    ownChecks: checks ? ownChecksIn(file, [...path, 'checks'], checks) : null,
    thresholds: thresholdsIn(file, path, written),
  };
}

function membersIn(
  file: ReadFile,
  path: Path,
  members: NonNullable<WrittenAccount['members']>,
): DesiredMember[] {
  noteRepeated(file, path, members, 'email', ({ email }) => email.trim().toLowerCase());
  return members.map(({ name, email, roles, status }, at) => {
    file.attempt([...path, at, 'name'], () => textOf('The name')(name));
    file.attempt([...path, at, 'email'], () => emailOf('The address')(email));
    return { name: name.trim(), email: email.trim(), roles, status };
  });
}
