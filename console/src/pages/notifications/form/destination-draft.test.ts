import { expect, test } from 'vitest';
import { DEFAULT_KINDS } from '../../../../../src/vocabulary/event-kinds.ts';
import { inputOf, newDraft } from './destination-draft.ts';

test('a Slack destination needs only a name and a URL', () => {
  const draft = { ...newDraft(' Slack '), url: ' https://hooks.example.com/x ' };
  expect(inputOf('slack', draft)).toEqual({
    name: 'Slack',
    url: 'https://hooks.example.com/x',
    kinds: DEFAULT_KINDS,
    minimum_severity: null,
    connection_ids: null,
    connection_names: null,
    requests_per_second: 50,
    quiet_hours: null,
  });
});

test('secrets that were left empty are not sent', () => {
  const keys = (channel: 'slack' | 'pagerduty' | 'alertmanager') =>
    Object.keys(inputOf(channel, newDraft('x')));
  for (const channel of ['slack', 'pagerduty', 'alertmanager'] as const) {
    expect(keys(channel)).not.toContain('url');
    expect(keys(channel)).not.toContain('routing_key');
    expect(keys(channel)).not.toContain('authorization');
  }
});

test('recipients and patterns are lists, however they were separated', () => {
  const draft = { ...newDraft('x'), recipients: 'a@example.com, b@example.com;\nc@example.com\n' };
  expect(inputOf('email', draft).recipients).toEqual(['a@example.com', 'b@example.com', 'c@example.com']);
  const named = { ...draft, scope: 'names' as const, names: 'prod-*,\n billing *\n' };
  expect(inputOf('slack', named).connection_names).toEqual(['prod-*', 'billing *']);
});

test('a heartbeat has no filters', () => {
  const draft = { ...newDraft('beat'), url: 'https://hc.example.com/1' };
  expect(inputOf('heartbeat', draft)).toEqual({ name: 'beat', url: 'https://hc.example.com/1' });
});
