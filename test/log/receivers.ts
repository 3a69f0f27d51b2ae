import { addDestination } from '../../src/notifications/destinations/add-destination.ts';
import { askRecipients } from '../../src/notifications/destinations/ask-recipients.ts';
import type { NewDestination } from '../../src/notifications/destinations/destination-input.ts';
import { addTo, firstRow, newEvent, queue } from '../../src/notifications/dispatch/dispatcher-fixture.ts';
import { logEnds } from '../../src/notifications/dispatch/log-ends.ts';
import type { Send } from '../../src/notifications/sending/outgoing.ts';
import type { Scene } from './scene.ts';

/** Destinations, deliveries and their ends, recipients, maintenance windows, views and exports. */
export async function changeDestinations(scene: Scene): Promise<void> {
  const { ada, accountId, store, receiver } = scene;
  const hook = (name: string, path: string): NewDestination => ({
    name,
    channel: 'webhook',
    url: `${receiver.url}${path}`,
    kinds: ['alert.triggered'],
  });
  const id = await addTo(store, accountId, hook('SOC', '/soc'));
  await queue(store, accountId, [newEvent()]);
  await receiver.requests('/soc', 1);
  await ada.send('PATCH', `/destinations/${id}`, { name: 'The SOC' });
  await ada.send('POST', `/destinations/${id}/rotate-secret`, { end_old: false });
  await ada.send('POST', `/destinations/${id}/disable`);
  await queue(store, accountId, [newEvent()]);
  await ada.send('POST', `/destinations/${id}/enable`, { missed: 'skip' });
  await ada.send('DELETE', `/destinations/${id}`);
  const failing = await addTo(store, accountId, hook('Down', '/fail'));
  await queue(store, accountId, [newEvent()]);
  await giveUp(scene, failing);
  await logEnds(store.writer, 0);
  await answerMail(scene);
}

/** Lets each pause between two attempts end at once. */
async function giveUp({ store }: Scene, id: number): Promise<void> {
  const hasten = setInterval(
    () =>
      store.writer
        .query(`update delivery set due_at = now() where destination_id = $1 and state = 'queued'`, [id])
        .then(() =>
          store.writer.query('update destination_queue set due_at = now() where destination_id = $1', [id]),
        ),
    50,
  );
  try {
    await firstRow(
      store,
      `select 1 as there from delivery where destination_id = $1 and state = 'given_up'`,
      [id],
    );
  } finally {
    clearInterval(hasten);
  }
}

async function answerMail({ ada, store, change }: Scene): Promise<void> {
  const { secret } = store.deps;
  const wanted = { name: 'Mail', channel: 'email', recipients: ['bob@example.com'] } as const;
  await change((made) => addDestination(made, secret, { allowPrivate: false }, wanted));
  const texts: string[] = [];
  const send: Send = async (outgoing) => {
    if (outgoing.protocol === 'smtp') texts.push(...outgoing.messages.map(({ text }) => text));
    return {
      accepted: true,
      status: 250,
      result: '',
      response: '',
      gone: false,
      retryAfter: null,
      milliseconds: 1,
    };
  };
  await askRecipients({
    writer: store.writer,
    secret,
    send,
    consoleUrl: () => 'https://dbvitals.example.com',
  });
  const [, token] = /\/email\/([\w-]{43})/.exec(texts.join()) ?? [];
  await ada.send('POST', `/email/${token}/confirm`);
  await ada.send('POST', `/email/${token}/unsubscribe`);
}

/** Maintenance windows, views and exports. */
export async function usePages({ ada }: Scene): Promise<void> {
  const connections = { ids: null, names: null };
  const ends_at = new Date(Date.now() + 3_600_000).toISOString();
  const weekly = { weekdays: [7], start_time: '03:00', time_zone: 'Europe/Berlin', minutes: 120 };
  for (const time of [{ ends_at }, weekly]) {
    const { id } = await ada.send<{ id: number }>('POST', '/maintenance', {
      name: 'Patches',
      connections,
      ...time,
    });
    await ada.send('DELETE', `/maintenance/${id}`);
  }
  for (const path of ['/views', '/shared-views']) {
    const { id } = await ada.send<{ id: number }>('POST', path, {
      page: 'fleet',
      name: 'Mine',
      query: 'a=1',
    });
    await ada.send('PATCH', `${path}/${id}`, { name: 'Ours' });
    await ada.send('DELETE', `${path}/${id}`);
  }
  await ada.send('GET', '/activity/export?format=csv&action_type=saved_view_added');
}
