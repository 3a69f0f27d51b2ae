import { enableDestination, MISSED } from '../../notifications/deliveries/enable-destination.ts';
import { addDestination } from '../../notifications/destinations/add-destination.ts';
import { changeDestination } from '../../notifications/destinations/change-destination.ts';
import { MOST_DESTINATIONS } from '../../notifications/destinations/destination-input.ts';
import { destinationWithin, listDestinations } from '../../notifications/destinations/destination-row.ts';
import { disableDestination } from '../../notifications/destinations/disable-destination.ts';
import { removeDestination } from '../../notifications/destinations/remove-destination.ts';
import { rotateSigningSecret } from '../../notifications/destinations/rotate-signing-secret.ts';
import { askAgain } from '../../notifications/destinations/store-recipients.ts';
import { sendDigest, testDestination } from '../../notifications/destinations/test-destination.ts';
import { Rejection } from '../../platform/rejection.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { countOpenTickets, sendOpenTickets } from '../../tickets/triage/send-open-tickets.ts';
import { CHANNELS } from '../../vocabulary/channels.ts';
import { type ConsoleParts, type ConsoleRoute, consoleRoute } from '../route.ts';
import {
  Destination,
  DestinationChangesBody,
  Destinations,
  inputOf,
  NewDestinationBody,
  StoredDestination,
  shownDestination,
} from './destination-schemas.ts';

const rulesOf = ({ allowPrivateDestinations }: ConsoleParts) => ({ allowPrivate: allowPrivateDestinations });

const list = consoleRoute({
  method: 'GET',
  path: '/destinations',
  permission: 'health:read',
  response: Destinations,
  async handler({ actor: { accountId }, parts, read }) {
    const rows = await read((run) => listDestinations(run, accountId));
    return {
      items: rows.map(shownDestination),
      limits: { most: MOST_DESTINATIONS },
      channels: CHANNELS.filter((channel) => channel !== 'email' || parts.hasMail),
      sending: { privateAllowed: parts.allowPrivateDestinations },
    };
  },
});

const add = consoleRoute({
  method: 'POST',
  path: '/destinations',
  permission: 'keys:write',
  recent: true,
  body: NewDestinationBody,
  response: StoredDestination,
  status: 201,
  async handler({ actor: { accountId }, body, change, parts, withWriter }) {
    const { name, channel, signature, method, region, encryption, ...fields } = body;
    if (channel === 'email' && !parts.hasMail)
      throw new Rejection(
        'invalid_parameter',
        'This service sends no e-mail: the operator sets DBVITALS_SMTP_URL.',
        {
          parameter: 'channel',
        },
      );
    const once = {
      ...(signature && { signature }),
      ...(method && { method }),
      ...(region && { region }),
      ...(encryption && { encryption }),
    };
    const wanted = { name: name.trim(), channel, ...once, ...inputOf(fields) };
    const added = await change((made) => addDestination(made, parts.secret, rulesOf(parts), wanted));
    const { destination, signing_secret } = added;
    const open_tickets = await withWriter((writer) => countOpenTickets(writer, accountId, destination.id));
    return { destination: shownDestination(destination), signing_secret, open_tickets };
  },
});

const change = consoleRoute({
  method: 'PATCH',
  path: '/destinations/:id',
  permission: 'keys:write',
  recent: true,
  body: DestinationChangesBody,
  response: StoredDestination,
  async handler({ id, body: { name, ...fields }, change: within, parts }) {
    const wanted = { ...(name !== undefined && { name: name.trim() }), ...inputOf(fields) };
    const changed = await within((made) => changeDestination(made, parts.secret, rulesOf(parts), id, wanted));
    const { destination, signing_secret } = changed;
    return { destination: shownDestination(destination), signing_secret, open_tickets: 0 };
  },
});

const remove = consoleRoute({
  method: 'DELETE',
  path: '/destinations/:id',
  permission: 'keys:write',
  response: null,
  async handler({ id, change: within }) {
    await within((made) => removeDestination(made, id));
  },
});

/** The answer of POST /destinations/:id/test. */
const TestAnswer = Type.Object({
  accepted: Type.Boolean(),
  status: nullable(Type.Integer()),
  result: Type.String(),
  response: Type.String(),
  milliseconds: Type.Integer(),
});
export type TestAnswer = Static<typeof TestAnswer>;

const sendByHand = (path: string, sendTo: typeof testDestination) =>
  consoleRoute({
    method: 'POST',
    path,
    permission: 'keys:write',
    response: TestAnswer,
    async handler({ id, change: within, read, requireStill, store }) {
      const result = await sendTo(within, store.writer, id, { read });
      await requireStill();
      return { ...result, accepted: result.accepted === true };
    },
  });

const test = sendByHand('/destinations/:id/test', testDestination);
const digest = sendByHand('/destinations/:id/send-digest', sendDigest);

const sendOpen = consoleRoute({
  method: 'POST',
  path: '/destinations/:id/send-open-tickets',
  permission: 'keys:write',
  response: Type.Object({ queued: Type.Integer() }),
  async handler({ id, change: within }) {
    const queued = await within(async (made) => {
      await destinationWithin(made, id);
      return sendOpenTickets(made, id);
    });
    return { queued };
  },
});

const rotate = consoleRoute({
  method: 'POST',
  path: '/destinations/:id/rotate-secret',
  permission: 'keys:write',
  recent: true,
  body: Type.Object({
    end_old: Type.Boolean({ description: 'Say whether the old secret ends at once: true or false.' }),
  }),
  response: Type.Object({ signing_secret: Type.String() }),
  status: 201,
  handler({ id, body: { end_old: endOld }, change: within, parts }) {
    return within((made) => rotateSigningSecret(made, parts.secret, id, { endOld }));
  },
});

const enable = consoleRoute({
  method: 'POST',
  path: '/destinations/:id/enable',
  permission: 'keys:write',
  body: Type.Object({
    missed: Type.Unsafe<(typeof MISSED)[number]>({
      type: 'string',
      enum: [...MISSED],
      description: 'Choose what becomes of what was missed: send or skip.',
    }),
  }),
  response: Destination,
  async handler({ id, body: { missed }, change: within }) {
    return shownDestination(await within((made) => enableDestination(made, id, missed)));
  },
});

const disable = consoleRoute({
  method: 'POST',
  path: '/destinations/:id/disable',
  permission: 'keys:write',
  response: Destination,
  async handler({ id, actor: { name }, change: within }) {
    const reason = `Disabled by ${name}.`;
    return shownDestination(await within((made) => disableDestination(made, id, reason)));
  },
});

const askRecipients = consoleRoute({
  method: 'POST',
  path: '/destinations/:id/ask-again',
  permission: 'keys:write',
  response: Type.Object({ asked: Type.Array(Type.String()) }),
  async handler({ id, change: within }) {
    return { asked: await within((made) => askAgain(made, id)) };
  },
});

/** The routes of destinations. */
export const destinationRoutes: ConsoleRoute[] = [
  list,
  add,
  change,
  remove,
  test,
  sendOpen,
  digest,
  rotate,
  enable,
  disable,
  askRecipients,
];
