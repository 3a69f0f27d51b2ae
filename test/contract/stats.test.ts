import { expect, test } from 'vitest';
import { fillAccount, makeAccount, makeKey, makeKeylessAccount } from './account.ts';
import { read } from './ask.ts';
import { signInAs } from './browser.ts';
import type { List, Single, Stats, Ticket } from './records.ts';

const PATH = '/api/v1/ops/stats';

test('200: an account without tickets', async () => {
  const { key } = await makeAccount({ plan: 'business' });
  expect(await read(PATH, key)).toEqual({
    data: {
      open_count: 0,
      resolved_this_week: 0,
      critical_open: 0,
      warning_open: 0,
      avg_resolution_hours: null,
    },
  });
});

test('200: the figures match a brute-force count of the tickets', async () => {
  const id = await makeKeylessAccount();
  await fillAccount(id, { connections: 4, tickets: 290, activity: 10, days: 21 });
  const { key } = await makeKey(id, 'suite');
  const pages = await Promise.all(
    [1, 2, 3].map((page) => read<List<Ticket>>(`/api/v1/ops/tickets?per_page=100&page=${page}`, key)),
  );
  const tickets = pages.flatMap(({ data }) => data);
  const open = tickets.filter(({ status }) => status === 'open');
  const monday = mondayOf(new Date());
  const hours = hoursOf(tickets.filter(({ status }) => status === 'resolved'));
  const thisWeek = tickets.filter((ticket) => Date.parse(ticket.resolved_at ?? '') >= monday);

  const { data } = await read<Single<Stats>>(PATH, key);
  expect(data).toEqual({
    open_count: open.length,
    resolved_this_week: thisWeek.length,
    critical_open: open.filter(({ severity }) => severity === 'critical').length,
    warning_open: open.filter(({ severity }) => severity === 'warning').length,
    avg_resolution_hours: expect.closeTo(averageOf(hours) ?? 0, 1),
  });
  expect(Math.round((data.avg_resolution_hours ?? 0) * 100) / 100).toBe(data.avg_resolution_hours);
  expect(open.length).toBeGreaterThan(0);
  expect(hours.length).toBeGreaterThan(0);

  // The console's count and average are of the same tickets: those of this week.
  const averageThisWeek = averageOf(hoursOf(thisWeek));
  const viewer = await signInAs(id, ['viewer']);
  expect(await viewer.get('/tickets/stats')).toEqual({
    open: data.open_count,
    critical: data.critical_open,
    snoozed: 0,
    solved_this_week: thisWeek.length,
    avg_hours_this_week: averageThisWeek === null ? null : expect.closeTo(averageThisWeek, 1),
  });
});

/** How long each resolved ticket took. */
function hoursOf(tickets: Ticket[]): number[] {
  return tickets.map(
    (ticket) => (Date.parse(ticket.resolved_at ?? '') - Date.parse(ticket.first_seen_at)) / 3_600_000,
  );
}

function averageOf(hours: number[]): number | null {
  return hours.length === 0 ? null : hours.reduce((sum, each) => sum + each, 0) / hours.length;
}

/** Monday 00:00 UTC of the ISO week. */
function mondayOf(now: Date): number {
  const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
  return midnight - ((now.getUTCDay() + 6) % 7) * 86_400_000;
}
