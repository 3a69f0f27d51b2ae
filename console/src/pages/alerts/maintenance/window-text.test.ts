import { expect, test } from 'vitest';
import { instantError, newWindow, type WindowDraft, windowOf } from './window-draft.ts';
import { draftSentence, missingText } from './window-text.ts';

const weekly = (changed: Partial<WindowDraft> = {}) =>
  draftSentence(windowOf({ ...newWindow('Europe/Berlin'), name: 'x', repeats: 'weekly', ...changed }));

test.each<[Partial<WindowDraft>, string]>([
  [{}, 'Every Sunday 02:00–04:00 Europe/Berlin.'],
  [{ time: '23:30', hours: '1.5', weekdays: [1, 2, 3, 4, 5] }, 'Every weekday 23:30–01:00 Europe/Berlin.'],
  [{ weekdays: [6, 1, 3] }, 'Every Monday, Wednesday and Saturday 02:00–04:00 Europe/Berlin.'],
  [{ weekdays: [1, 2, 3, 4, 5, 6, 7], hours: '0,5' }, 'Every day 02:00–02:30 Europe/Berlin.'],
  [{ weekdays: [6], hours: '36' }, 'Every Saturday 02:00 Europe/Berlin for 1 d 12 h.'],
])('%j: %s', (changed, sentence) => {
  expect(weekly(changed)).toBe(sentence);
});

test.each<Partial<WindowDraft>>([
  { weekdays: [] },
  { time: '' },
  { zone: ' ' },
  { hours: '' },
  { hours: 'x' },
])('there is no sentence for %j', (changed) => {
  expect(weekly(changed)).toBeNull();
});

test('a window that happens once starts now unless it says when', () => {
  const draft = { ...newWindow('UTC'), name: 'x', ends: '2026-01-31T12:00' };
  expect(windowOf(draft)).toEqual({
    name: 'x',
    connections: { ids: null, names: null },
    ends_at: new Date('2026-01-31T12:00').toISOString(),
  });
  expect(draftSentence(windowOf(draft))).toBe('Once: now – 31 Jan 2026, 12:00.');
  expect(draftSentence(windowOf({ ...draft, ends: '' }))).toBeNull();
});

test.each<Partial<WindowDraft>>([{ starts: '120260-01-31T10:00' }, { ends: '120260-01-31T12:00' }])(
  'there is no window with the six-digit year of %j',
  (changed) => {
    const window = windowOf({ ...newWindow('UTC'), name: 'x', ends: '2026-01-31T12:00', ...changed });
    expect(window).toEqual({ name: 'x', connections: { ids: null, names: null } });
    expect(draftSentence(window)).toBeNull();
  },
);

test('the error of a date-time field', () => {
  expect(instantError('')).toBeNull();
  expect(instantError('2026-01-31T12:00')).toBeNull();
  expect(instantError('120260-01-31T12:00')).toBe('Enter a year of four digits.');
});

test('what a form still needs is what its fields say', () => {
  const draft = newWindow('Europe/Berlin');
  expect(draftSentence(windowOf(draft))).toBeNull();
  expect(missingText(draft)).toBe('Enter an end. Without a start, the window begins now.');
  // As soon as it has an end, it needs nothing more.
  expect(draftSentence(windowOf({ ...draft, ends: '2030-01-31T12:00' }))).toMatch(/^Once: now – /);
  expect(missingText({ repeats: 'weekly' })).not.toContain('now');
});
