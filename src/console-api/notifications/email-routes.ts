import type pg from 'pg';
import {
  confirmRecipient,
  findRecipientAccounts,
  readRecipient,
  unsubscribeRecipient,
} from '../../notifications/destinations/answer-recipient.ts';
import { findOtherAccounts, unsubscribeFromAccount } from '../../notifications/recipients/unsubscribed.ts';
import { notFound } from '../../platform/rejection.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { isStoreFailure } from '../../store/store-failure.ts';
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
  const { stores, inTurn } = asked.parts;
  const token = tokenOf(asked);
  const [found] = await stores.inEach(({ writer }) => findRecipientAccounts(writer, token));
  if (!found) throw notFound();
  const { writer } = await stores.of(found.account_id);
  return inTurn(writer, found.account_id, () => act(writer, token));
}

/** Who unsubscribes gets nothing more, whatever destination of whatever account has the address. */
async function unsubscribeElsewhere(
  { parts: { stores, inTurn } }: ConsoleRequest,
  email: string,
): Promise<void> {
  const others = await stores
    .inEach(({ writer }) => findOtherAccounts(writer, email))
    .catch((error: unknown) => {
      // What can't be reached learns it by itself: see learn-unsubscribed.ts.
      if (isStoreFailure(error)) return [];
      throw error;
    });
  for (const { account_id } of others) {
    const { writer } = await stores.of(account_id);
    await inTurn(writer, account_id, () => unsubscribeFromAccount(writer, account_id, email));
  }
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
  async handler(asked) {
    const answer = await inItsStore(asked, unsubscribeRecipient);
    await unsubscribeElsewhere(asked, answer.email);
    return answer;
  },
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
