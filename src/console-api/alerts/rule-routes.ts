import { everyCheck } from '../../checks/catalogue.ts';
import { CHECK_METRICS } from '../../checks/check-metrics.ts';
import { engineVitals } from '../../checks/vitals/engine-vitals.ts';
import { addRule } from '../../notifications/alerts/add-rule.ts';
import type { RuleRow, RuleSettings } from '../../notifications/alerts/alert-rule.ts';
import { changeRule } from '../../notifications/alerts/change-rule.ts';
import { listRules } from '../../notifications/alerts/list-rules.ts';
import { removeRule } from '../../notifications/alerts/remove-rule.ts';
import { requireChosen } from '../../notifications/alerts/require-covered.ts';
import { ENGINES } from '../../vocabulary/engines.ts';
import { named } from '../measures/series-names.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { AlertRule, AlertRules, ChangedRule, NewRule } from './alert-schemas.ts';

const vitals = new Set(ENGINES.flatMap((engine) => engineVitals[engine].vitals.map(({ metric }) => metric)));

const SUBJECTS = {
  checks: everyCheck.map(({ id, title }) => ({ id, title })),
  measures: [
    ...[...vitals].map((metric) => ({ check_id: '', metric })),
    ...Object.entries(CHECK_METRICS).flatMap(([check_id, metrics]) =>
      metrics.map((metric) => ({ check_id, metric })),
    ),
  ].map((series) => {
    const { check_id, metric, title, unit } = named(series);
    return { check_id, measure: metric, title, unit };
  }),
};

const selectDestinations = `
  select destination_id as id, name
    from destination
   where account_id = $1 and removed_at is null
   order by destination_id`;

const list = consoleRoute({
  method: 'GET',
  path: '/alert-rules',
  permission: 'health:read',
  response: AlertRules,
  async handler({ actor: { accountId }, read }) {
    const [rules, destinations] = await read((run) =>
      Promise.all([
        listRules(run, accountId),
        run<{ id: number; name: string }>(selectDestinations, [accountId]),
      ]),
    );
    return { items: rules.map(shown), ...SUBJECTS, destinations };
  },
});

const add = consoleRoute({
  method: 'POST',
  path: '/alert-rules',
  permission: 'connections:write',
  body: NewRule,
  response: AlertRule,
  status: 201,
  async handler({ body, change }) {
    const { connections, ...rule } = body;
    const wanted = { ...rule, name: rule.name.trim(), ...scopeOf(connections) };
    requireChosen(wanted);
    return shown(await addRule(change, wanted));
  },
});

const edit = consoleRoute({
  method: 'PATCH',
  path: '/alert-rules/:id',
  permission: 'connections:write',
  body: ChangedRule,
  response: AlertRule,
  async handler({ body, change, id }) {
    const { connections, name, ...rule } = body;
    const changes = {
      ...rule,
      ...(name !== undefined && { name: name.trim() }),
      ...(connections && scopeOf(connections)),
    };
    requireChosen(changes);
    return shown(await changeRule(change, id, changes));
  },
});

const remove = consoleRoute({
  method: 'DELETE',
  path: '/alert-rules/:id',
  permission: 'connections:write',
  response: null,
  async handler({ change, id }) {
    await removeRule(change, id);
  },
});

/** The routes of alert rules. */
export const alertRuleRoutes: ConsoleRoute[] = [list, add, edit, remove];

function scopeOf({ ids, names }: { ids: number[] | null; names: string[] | null }) {
  return { connection_ids: ids, connection_names: names } satisfies Partial<RuleSettings>;
}

function shown(row: RuleRow): AlertRule {
  const { connection_ids, connection_names, destination_ids, created_at, ...rule } = row;
  return {
    ...rule,
    connections: { ids: copyOf(connection_ids), names: copyOf(connection_names) },
    destination_ids: copyOf(destination_ids),
    created_at: created_at.toISOString(),
  };
}

function copyOf<Item>(list: readonly Item[] | null): Item[] | null {
  return list === null ? null : [...list];
}
