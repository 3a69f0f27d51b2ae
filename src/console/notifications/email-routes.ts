import type pg from 'pg';
import { stringEnum } from '../../http/string-enum.ts';
import {
  confirmRecipient,
  findRecipientAccounts,
  NoRecipient,
  readRecipient,
  unsubscribeRecipient,
} from '../../notifications/destinations/answer-recipient.ts';
import { type Static, Type } from '../../vocabulary/schema.ts';
import { type ConsoleRequest, type ConsoleRoute, openRoute } from '../route.ts';

// The links in messages to recipients. GET changes nothing, because mail scanners follow links.

/** GET /email/:token: nothing that the recipient's messages do not say. */
const Email = Type.Object({
  account: Type.String(),
  destination: Type.String(),
  email: Type.String(),
  state: stringEnum('unconfirmed', 'confirmed', 'unsubscribed'),
});

export type Email = Static<typeof Email>;

const tokenOf = ({ params }: ConsoleRequest) => params['token'] ?? '';

/** Finds the store of a recipient's link, and acts there. */
async function inItsStore<T>(
  asked: ConsoleRequest,
  act: (writer: pg.Pool, token: string) => Promise<T>,
): Promise<T> {
  const { stores } = asked.parts;
  const token = tokenOf(asked);
  const [found] = await stores.inEach(({ writer }) => findRecipientAccounts(writer, token));
  if (!found) throw new NoRecipient();
  return act((await stores.of(found.account_id)).writer, token);
}

const show = openRoute({
  method: 'GET',
  path: '/email/:token',
  permission: 'anyone',
  response: Email,
  handler: (asked) => inItsStore(asked, readRecipient),
});

const confirm = openRoute({
  method: 'POST',
  path: '/email/:token/confirm',
  permission: 'anyone',
  response: Email,
  handler: (asked) => inItsStore(asked, confirmRecipient),
});

const unsubscribe = openRoute({
  method: 'POST',
  path: '/email/:token/unsubscribe',
  permission: 'anyone',
  fromMailPrograms: true,
  response: Email,
  handler: (asked) => inItsStore(asked, unsubscribeRecipient),
});

/** Programs without one-click unsubscribing open the header's URL: it leads to the page. */
const openPage = openRoute({
  method: 'GET',
  path: '/email/:token/unsubscribe',
  permission: 'anyone',
  response: null,
  async handler(asked) {
    const { basePath } = asked.parts;
    return asked.reply.redirect(`${basePath}/email/${encodeURIComponent(tokenOf(asked))}`, 303);
  },
});

/** The routes that the links in e-mail open. */
export const emailRoutes: ConsoleRoute[] = [show, confirm, unsubscribe, openPage];
