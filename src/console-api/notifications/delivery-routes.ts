import { wholeNumber } from '../../http/query-parameters.ts';
import {
  DELIVERY_STATES,
  type DeliveryRow,
  listDeliveries,
} from '../../notifications/deliveries/list-deliveries.ts';
import { readDelivery } from '../../notifications/deliveries/read-delivery.ts';
import { ENDED_STATES } from '../../notifications/deliveries/resend.ts';
import { resendDeliveries, resendOneDelivery } from '../../notifications/deliveries/resend-deliveries.ts';
import { readDestination } from '../../notifications/destinations/destination-row.ts';
import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { EVENT_KINDS } from '../../vocabulary/event-kinds.ts';
import { endOf } from '../history-range.ts';
import { limitParameter, readLimit } from '../page-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { iso } from './destination-schemas.ts';

const fields = {
  id: identifier('delivery'),
  event_id: Type.String(),
  kind: stringEnum(...EVENT_KINDS),
  epoch: Type.String(),
  sequence: Type.Integer(),
  state: stringEnum(...DELIVERY_STATES),
  queued_at: timestamp('time of the event'),
  due_at: nullable(timestamp('of the next attempt')),
  ended_at: nullable(timestamp('when it ended')),
  status: nullable(Type.Integer({ description: 'of the last attempt; null = no answer' })),
  result: nullable(Type.String({ description: 'of the last attempt' })),
  reason: nullable(Type.String({ description: 'why it was cancelled or given up' })),
  title: Type.String(),
  connection_name: nullable(Type.String()),
};

const Delivery = Type.Object({ ...fields, attempts: count('so far') });

/** GET /destinations/:id/deliveries */
const Deliveries = Type.Object({
  items: Type.Array(Delivery, { description: 'the newest first' }),
  next: nullable(identifier('`before` of the next page; null = this is the last')),
});

export type Deliveries = Static<typeof Deliveries>;

/** GET /deliveries/:id */
const DeliveryDetail = Type.Object({
  ...fields,
  destination_id: identifier('destination'),
  body: nullable(Type.String({ description: 'as it is sent; null = not made yet' })),
  attempts: Type.Array(
    Type.Object({
      attempt: Type.Integer(),
      started_at: timestamp('when it began'),
      milliseconds: Type.Integer(),
      status: nullable(Type.Integer()),
      result: Type.String(),
      headers: Type.Record(Type.String(), Type.String(), { description: 'that were sent, without secrets' }),
      response: Type.String({ description: 'at most 4 kB' }),
    }),
  ),
});

export type DeliveryDetail = Static<typeof DeliveryDetail>;

const list = consoleRoute({
  method: 'GET',
  path: '/destinations/:id/deliveries',
  permission: 'health:read',
  query: Type.Object({
    state: Type.Optional(
      Type.Unsafe<(typeof DELIVERY_STATES)[number]>({
        type: 'string',
        enum: [...DELIVERY_STATES],
        description: `state must be one of ${DELIVERY_STATES.join(', ')}.`,
      }),
    ),
    kind: Type.Optional(
      Type.Unsafe<(typeof EVENT_KINDS)[number]>({
        type: 'string',
        enum: [...EVENT_KINDS],
        description: `kind must be one of ${EVENT_KINDS.join(', ')}.`,
      }),
    ),
    before: wholeNumber('before', 'Gives the deliveries before the one with this id.', { minimum: 1 }),
    limit: limitParameter,
  }),
  response: Deliveries,
  async handler({ id, query: { state, kind, before, limit: given }, actor: { accountId }, read }) {
    const limit = readLimit(given);
    const filter = {
      ...(state && { state }),
      ...(kind && { kind }),
      ...(before !== undefined && { before }),
      limit,
    };
    const rows = await read(async (run) => {
      await readDestination(run, accountId, id);
      return listDeliveries(run, accountId, id, filter);
    });
    return {
      items: rows.map(({ attempts, ...row }) => ({ ...shown(row), attempts })),
      next: rows.length === limit ? (rows.at(-1)?.id ?? null) : null,
    };
  },
});

function shown({ queued_at, due_at, ended_at, ...row }: Omit<DeliveryRow, 'attempts'>) {
  return { ...row, queued_at: queued_at.toISOString(), due_at: iso(due_at), ended_at: iso(ended_at) };
}

const detail = consoleRoute({
  method: 'GET',
  path: '/deliveries/:id',
  permission: 'health:read',
  response: DeliveryDetail,
  async handler({ id, actor: { accountId }, read }): Promise<Static<typeof DeliveryDetail>> {
    const {
      list: attempts,
      attempts: _count,
      ...row
    } = await read((run) => readDelivery(run, accountId, id));
    return {
      ...shown(row),
      destination_id: row.destination_id,
      body: row.body,
      attempts: attempts.map(({ started_at, headers, ...attempt }) => ({
        ...attempt,
        headers: { ...headers },
        started_at: started_at.toISOString(),
      })),
    };
  },
});

const resend = consoleRoute({
  method: 'POST',
  path: '/deliveries/:id/resend',
  permission: 'keys:write',
  response: Type.Object({ id: identifier('the new delivery') }),
  async handler({ id, change }) {
    return { id: await change((made) => resendOneDelivery(made, id)) };
  },
});

const At = Type.String({
  format: 'date-time',
  maxLength: 40,
  description: 'Enter a time such as 2030-01-31T18:00:00Z.',
});

const resendMany = consoleRoute({
  method: 'POST',
  path: '/destinations/:id/resend',
  permission: 'keys:write',
  body: Type.Object({
    from: At,
    to: At,
    states: Type.Array(
      Type.Unsafe<(typeof ENDED_STATES)[number]>({ type: 'string', enum: [...ENDED_STATES] }),
      {
        minItems: 1,
        maxItems: ENDED_STATES.length,
        description: `Choose states from ${ENDED_STATES.join(', ')}.`,
      },
    ),
  }),
  response: Type.Object({ queued: Type.Integer() }),
  async handler({ id, body: { from, to, states }, change }) {
    const range = { from: new Date(from), to: endOf(new Date(to)), states };
    return { queued: await change((made) => resendDeliveries(made, id, range)) };
  },
});

/** The routes of deliveries. */
export const deliveryRoutes: ConsoleRoute[] = [list, detail, resend, resendMany];
