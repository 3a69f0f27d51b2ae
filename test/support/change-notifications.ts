import type { OwnRows } from './console-reads.ts';

/** Sends a request of the console, and returns the answer if it is an object. */
export type Send = (route: string, path: string, body?: object) => Promise<Record<string, unknown>>;

/** Calls every route that changes alerts, rules, maintenance windows and destinations, and those of e-mail. */
export async function changeNotifications(send: Send, own: OwnRows): Promise<void> {
  await changeAlerts(send, own);
  await changeDestinations(send);
  await send('GET /email/:token', '/email/none');
  await send('GET /email/:token/unsubscribe', '/email/none/unsubscribe');
  await send('POST /email/:token/confirm', '/email/none/confirm');
  await send('POST /email/:token/unsubscribe', '/email/none/unsubscribe');
}

async function changeDestinations(send: Send): Promise<void> {
  const { destination } = await send('POST /destinations', '/destinations', {
    name: 'Pager',
    channel: 'webhook',
    url: 'https://hooks.example.com/dbvitals',
  });
  const path = `/destinations/${(destination as { id: number }).id}`;
  await send('PATCH /destinations/:id', path, { name: 'Night shift' });
  await send('POST /destinations/:id/disable', `${path}/disable`);
  await send('POST /destinations/:id/enable', `${path}/enable`, { missed: 'send' });
  await send('POST /destinations/:id/send-open-tickets', `${path}/send-open-tickets`);
  await send('POST /destinations/:id/rotate-secret', `${path}/rotate-secret`, { end_old: false });
  await send('POST /destinations/:id/ask-again', `${path}/ask-again`, { email: 'ada@example.com' });
  await send('POST /destinations/:id/test', `${path}/test`);
  await send('POST /destinations/:id/send-digest', `${path}/send-digest`);
  await send('GET /destinations/:id/deliveries', `${path}/deliveries`);
  await send('GET /destinations/:id/deliveries', `${path}/deliveries?kind=test&limit=1`);
  const { items } = await send('GET /destinations/:id/deliveries', `${path}/deliveries?state=accepted`);
  const id = (items as { id: number }[])[0]?.id ?? 999_999;
  await send('GET /deliveries/:id', `/deliveries/${id}`);
  await send('POST /deliveries/:id/resend', `/deliveries/${id}/resend`);
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', states: ['given_up'] };
  await send('POST /destinations/:id/resend', `${path}/resend`, range);
  await send('DELETE /destinations/:id', path);
}

async function changeAlerts(send: Send, { alert }: OwnRows): Promise<void> {
  await send('POST /alerts/:id/acknowledge', `/alerts/${alert}/acknowledge`, { until: '1h', note: '' });
  await send('POST /alerts/:id/unacknowledge', `/alerts/${alert}/unacknowledge`, {});
  const connections = { ids: null, names: null };
  const wanted = {
    name: 'Low score',
    metric: 'score',
    check_id: null,
    measure: null,
    operator: '<',
    threshold: 80,
    clear_threshold: null,
    for_seconds: 0,
    for_runs: 1,
    severity: 'warning',
    connections,
    destination_ids: null,
    reminder_seconds: null,
    is_enabled: true,
  };
  await send('POST /alert-rules/preview', '/alert-rules/preview', wanted);
  const rule = await send('POST /alert-rules', '/alert-rules', wanted);
  await send('PATCH /alert-rules/:id', `/alert-rules/${rule['id']}`, {
    connections: { ids: null, names: ['*'] },
  });
  await send('DELETE /alert-rules/:id', `/alert-rules/${rule['id']}`);
  const ends_at = new Date(Date.now() + 3_600_000).toISOString();
  const window = await send('POST /maintenance', '/maintenance', { name: 'Disks', connections, ends_at });
  await send('DELETE /maintenance/:id', `/maintenance/${window['id']}`);
}
