import { wholeNumber } from '../../http/query-parameters.ts';
import { acknowledgeAlert } from '../../notifications/alerts/acknowledge-alert.ts';
import { listOpenAlerts, listResolvedAlerts } from '../../notifications/alerts/list-alerts.ts';
import { readAlert } from '../../notifications/alerts/read-alert.ts';
import { unacknowledgeAlert } from '../../notifications/alerts/unacknowledge-alert.ts';
import { Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { one } from '../../store/one.ts';
import type { Read } from '../../store/read.ts';
import { untilOf } from '../../tickets/silences/until.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { singleLineOrEmpty } from '../single-line.ts';
import { type AlertDelivery, AlertDetail, AlertList, OpenCount } from './alert-schemas.ts';
import { shownAlerts } from './shown-alerts.ts';

const PAGE = 50;

const listAlerts = consoleRoute({
  method: 'GET',
  path: '/alerts',
  permission: 'health:read',
  query: Type.Object({
    state: Type.Optional(stringEnum('open', 'resolved')),
    /** Of resolved alerts; open ones are one page. */
    before: wholeNumber('before', 'Gives the alerts after the alert with this id, the last of a page.', {
      minimum: 1,
    }),
  }),
  response: AlertList,
  // Up to 1,000 open alerts.
  cost: 2,
  async handler({ actor: { accountId }, query: { state = 'open', before }, read }) {
    return read(async (run) => {
      const { items, next } =
        state === 'open'
          ? { items: await listOpenAlerts(run, accountId), next: null }
          : await listResolvedAlerts(run, accountId, { before: before ?? null, limit: PAGE });
      return { items: await shownAlerts(run, accountId, items), next };
    });
  },
});

const openAlerts = `from alert where account_id = $1 and state = 'open'`;

// No list is longer.
const selectCount = `
  select (select count(*)::int from (select ${openAlerts} limit 100) first) as open,
         (select count(*)::int
            from (select ${openAlerts} and (acknowledged_at is null or acknowledged_until <= now()) limit 100) first)
         as unacknowledged`;

const countOpen = consoleRoute({
  method: 'GET',
  path: '/alerts/count',
  permission: 'health:read',
  response: OpenCount,
  async handler({ actor: { accountId }, read }) {
    return one(await read((run) => run<OpenCount>(selectCount, [accountId])), 'count open alerts');
  },
});

const selectDeliveries = `
  select d.delivery_id as id, d.destination_id, n.name as destination_name, n.channel, e.kind, d.state, d.queued_at,
         d.ended_at, d.attempts, coalesce(d.reason, d.result) as result
    from event e
    join delivery d on d.account_id = e.account_id and d.event_id = e.event_id
    join destination n on n.account_id = d.account_id and n.destination_id = d.destination_id
   where e.account_id = $1 and e.alert_id = $2
   order by e.occurred_at desc, d.delivery_id desc
   limit 100`;

const selectRule = `
  select removed_at is not null as rule_removed from alert_rule where account_id = $1 and rule_id = $2`;

const getAlert = consoleRoute({
  method: 'GET',
  path: '/alerts/:id',
  permission: 'health:read',
  response: AlertDetail,
  async handler({ actor: { accountId }, id, read }) {
    return read((run) => readDetail(run, accountId, id));
  },
});

const acknowledge = consoleRoute({
  method: 'POST',
  path: '/alerts/:id/acknowledge',
  permission: 'connections:write',
  body: Type.Object(
    {
      /** Null = until it is resolved. */
      until: Type.Union([Type.Null(), Type.String({ minLength: 1, maxLength: 40 })], {
        description: 'Enter a date-time such as 2030-01-31T18:00:00Z, or a duration such as 4h.',
      }),
      note: singleLineOrEmpty(200, 'Enter a note of at most 200 characters.'),
    },
    { additionalProperties: false },
  ),
  response: AlertDetail,
  async handler({ actor: { accountId }, body: { until, note }, change, id, read }) {
    await acknowledgeAlert(change, id, {
      until: until === null ? null : untilOf('until')(until),
      note: note.trim(),
    });
    return read((run) => readDetail(run, accountId, id));
  },
});

const unacknowledge = consoleRoute({
  method: 'POST',
  path: '/alerts/:id/unacknowledge',
  permission: 'connections:write',
  response: AlertDetail,
  async handler({ actor: { accountId }, change, id, read }) {
    await unacknowledgeAlert(change, id);
    return read((run) => readDetail(run, accountId, id));
  },
});

/** The routes of alerts. */
export const alertRoutes: ConsoleRoute[] = [listAlerts, countOpen, getAlert, acknowledge, unacknowledge];

interface DeliveryRow extends Omit<AlertDelivery, 'queued_at' | 'ended_at'> {
  queued_at: Date;
  ended_at: Date | null;
}

async function readDetail(run: Read, accountId: number, id: number): Promise<AlertDetail> {
  const row = await readAlert(run, accountId, id);
  const [alerts, deliveries, rules] = await Promise.all([
    shownAlerts(run, accountId, [row]),
    run<DeliveryRow>(selectDeliveries, [accountId, id]),
    run<{ rule_removed: boolean }>(selectRule, [accountId, row.rule_id]),
  ]);
  return {
    ...one(alerts, 'show an alert'),
    ...one(rules, 'read the rule of an alert'),
    remediation: row.details.remediation,
    reminded_at: row.reminded_at?.toISOString() ?? null,
    deliveries: deliveries.map(({ queued_at, ended_at, ...delivery }) => ({
      ...delivery,
      queued_at: queued_at.toISOString(),
      ended_at: ended_at?.toISOString() ?? null,
    })),
  };
}
