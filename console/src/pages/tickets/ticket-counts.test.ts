import { expect, test } from 'vitest';
import { filterCounts } from './ticket-counts.ts';

const rows = [
  { state: 'new', severity: 'critical', mentioned: false, count: 3 },
  { state: 'new', severity: 'warning', mentioned: true, count: 1 },
  { state: 'acknowledged', severity: 'warning', mentioned: false, count: 5 },
  { state: 'snoozed', severity: 'critical', mentioned: false, count: 7 },
] as const;

test('a filter counts what it leads to while the other filters stay', () => {
  const all = filterCounts([...rows], {});
  expect([all.list('open'), all.list('new'), all.list('snoozed'), all.list('resolved')]).toEqual([
    9, 4, 7, 0,
  ]);
  expect([all.severity('critical'), all.severity('warning'), all.mentioned]).toEqual([3, 6, 1]);
  const critical = filterCounts([...rows], { severity: 'critical', status: 'snoozed' });
  expect([critical.list('open'), critical.list('snoozed'), critical.severity('warning')]).toEqual([3, 7, 0]);
  const mentioned = filterCounts([...rows], { mentioned: 'me', status: 'all' });
  expect([mentioned.list('open'), mentioned.severity('critical'), mentioned.mentioned]).toEqual([1, 0, 1]);
});
