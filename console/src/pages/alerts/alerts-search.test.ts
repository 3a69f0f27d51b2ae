import { expect, test } from 'vitest';
import { alertsSearch } from './alerts-search.ts';

test('keeps what the page knows', () => {
  expect(alertsSearch({ view: 'rules', alert: '7' })).toEqual({ view: 'rules', alert: '7' });
  expect(alertsSearch({ view: 'open', alert: '0', more: 'x' })).toEqual({});
  expect(alertsSearch({ alert: '7; drop' })).toEqual({});
});
