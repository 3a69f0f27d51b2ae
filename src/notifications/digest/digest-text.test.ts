import { expect, test } from 'vitest';
import { digestText } from './digest-text.ts';
import type { Digest } from './read-digest.ts';

const until = new Date('2026-11-30T07:00:00Z');
const ago = (hours: number) => new Date(until.getTime() - hours * 3_600_000);
const none = { critical: 0, warning: 0, info: 0, first: [] };
const quiet: Digest = {
  account: { id: 1, name: 'Acme' },
  from: ago(7 * 24),
  until,
  connections: 12,
  score: { now: 98, before: 97 },
  opened: none,
  closed: none,
  open: none,
  untouched: none,
  will_be_full: [],
  grew: [
    {
      connection_id: 3,
      connection: 'shop',
      metric: 'database_bytes',
      database: 'shop',
      object: null,
      bytes_per_day: 3.2 * 1024 ** 3,
    },
  ],
  backups: { expected: 8, overdue: [], failed: [] },
};
const ticket = {
  id: 7,
  connection_id: 3,
  connection: 'shop',
  severity: 'critical' as const,
  title: 'Sequence nearly exhausted',
  object: 'public.orders_id_seq',
  since: ago(49),
  closed_at: null,
};
const busy: Digest = {
  ...quiet,
  opened: { ...none, critical: 1, first: [ticket] },
  open: { ...none, critical: 1, warning: 8, first: [ticket] },
  untouched: { ...none, warning: 8, first: [{ ...ticket, id: 5, severity: 'warning', since: ago(240) }] },
  will_be_full: [
    {
      connection_id: 4,
      connection: 'crm',
      metric: 'sequence_used_ratio',
      database: 'crm',
      object: 'public.mail_id_seq',
      full_at: new Date('2027-01-31T23:30:00Z'),
      own_check: null,
    },
    {
      connection_id: 3,
      connection: 'shop',
      metric: 'orders_stuck_count',
      database: 'shop',
      object: 'eu',
      full_at: new Date('2027-02-03T00:00:00Z'),
      own_check: { title: 'Orders wait for payment', level: 'critical' },
    },
  ],
  backups: {
    expected: 8,
    overdue: [
      { connection_id: 3, connection: 'shop', last: ago(40) },
      { connection_id: 5, connection: 'new', last: null },
    ],
    failed: [{ connection_id: 4, connection: 'crm', at: ago(3) }],
  },
};

test('a fleet without problems takes two lines', () => {
  expect(digestText(quiet, 'UTC')).toEqual({
    title: 'Acme: 23 November 2026 to 30 November 2026',
    summary: [
      '12 databases, score 98, 97 before. Nothing opened, and nothing is open.',
      'Backups: all 8 as expected.',
    ],
    parts: [],
  });
});

test('the digest of a bad week has what needs a person first, and each line leads to its page', () => {
  const { summary, parts } = digestText(busy, 'UTC');
  expect(summary).toEqual([
    '12 databases, score 98, 97 before. Opened: 1 critical. Closed: 0. Still open: 1 critical, 8 warning.',
    'Backups: 5 of 8 as expected.',
  ]);
  expect(parts).toEqual([
    {
      heading: 'Backups that are missing',
      lines: [
        { text: 'shop: the last succeeded 1 d 16 h ago', path: '/connections/3' },
        { text: 'new: none yet', path: '/connections/5' },
        { text: 'crm: failed 3 h ago', path: '/connections/4' },
      ],
    },
    {
      heading: 'Opened',
      lines: [
        {
          text: 'critical: shop: Sequence nearly exhausted, public.orders_id_seq, for 2 d 1 h',
          path: '/tickets?status=all&ticket=7',
        },
      ],
    },
    {
      heading: 'Still open (the first 1 of 9)',
      lines: [expect.objectContaining({ path: expect.stringMatching(/=7$/) })],
    },
    {
      heading: 'Nobody touched (the first 1 of 8)',
      lines: [
        {
          text: 'warning: shop: Sequence nearly exhausted, public.orders_id_seq, for 10 d',
          path: '/tickets?status=all&ticket=5',
        },
      ],
    },
    {
      heading: 'Will be full',
      lines: [
        { text: 'crm: Sequence used of public.mail_id_seq on 31 January 2027', path: '/connections/4' },
      ],
    },
    {
      heading: 'Will get worse',
      lines: [
        { text: 'shop: Orders wait for payment, eu, critical on 3 February 2027', path: '/connections/3' },
      ],
    },
    {
      heading: 'Grows most',
      lines: [{ text: 'shop: Database shop, 3.2 GB a day', path: '/connections/3' }],
    },
  ]);
});

test('a ticket that closed since it opened is no longer open', () => {
  const closed = { ...ticket, closed_at: ago(45) };
  const list = { ...none, critical: 1, first: [closed] };
  const { parts } = digestText({ ...busy, opened: list, closed: list }, 'UTC');
  const lines = parts
    .filter(({ heading }) => ['Opened', 'Closed'].includes(heading))
    .map((part) => part.lines[0]?.text);
  expect(lines).toEqual(
    Array(2).fill('critical: shop: Sequence nearly exhausted, public.orders_id_seq, closed after 4 h'),
  );
});

test('a plan without tickets has a digest without them', () => {
  const { summary, parts } = digestText(
    { ...busy, opened: null, closed: null, open: null, untouched: null },
    'UTC',
  );
  expect(summary[0]).toBe('12 databases, score 98, 97 before.');
  expect(parts.map(({ heading }) => heading)).toEqual([
    'Backups that are missing',
    'Will be full',
    'Will get worse',
    'Grows most',
  ]);
});

test('days are those of the time zone, also where the clocks change in between', () => {
  const of = (timeZone: string, from: string, end: string) =>
    digestText({ ...busy, from: new Date(from), until: new Date(end) }, timeZone);
  expect(of('Europe/Berlin', '2026-11-22T23:30:00Z', '2026-11-29T23:30:00Z').title).toBe(
    'Acme: 23 November 2026 to 30 November 2026',
  );
  expect(of('America/New_York', '2026-11-22T23:30:00Z', '2026-11-29T23:30:00Z').title).toBe(
    'Acme: 22 November 2026 to 29 November 2026',
  );
  // The clocks go back on 25 October in Berlin, and forward on 28 March 2027.
  expect(of('Europe/Berlin', '2026-10-18T22:30:00Z', '2026-10-25T23:30:00Z').title).toBe(
    'Acme: 19 October 2026 to 26 October 2026',
  );
  expect(of('Europe/Berlin', '2027-03-22T22:30:00Z', '2027-03-29T22:30:00Z').title).toBe(
    'Acme: 22 March 2027 to 30 March 2027',
  );
  expect(
    JSON.stringify(of('Pacific/Kiritimati', '2026-11-22T23:30:00Z', '2026-11-29T23:30:00Z').parts),
  ).toContain('on 1 February 2027');
});

test('names of strangers can be no markup, no line and no link', () => {
  const hostile = '<img src=x onerror=alert(1)>"&\n\u001b[2J\u202eevil';
  const named = { ...ticket, connection: hostile, title: hostile, object: hostile };
  const digest = {
    ...busy,
    account: { id: 1, name: hostile },
    opened: { ...none, critical: 1, first: [named] },
    grew: busy.grew.map((one) => ({ ...one, connection: hostile, object: hostile })),
  };
  const text = digestText(digest, 'UTC');
  for (const { lines } of text.parts)
    for (const line of lines) expect(line.text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(text.title).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
