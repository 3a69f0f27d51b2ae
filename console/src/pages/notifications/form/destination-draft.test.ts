import { expect, test } from 'vitest';
import { DEFAULT_KINDS } from '../../../../../src/vocabulary/event-kinds.ts';
import { inputOf, newDraft, newInputOf } from './destination-draft.ts';

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
    digest: null,
  });
});

test('a digest has a day, a time and a zone, and only people get one', () => {
  const draft = {
    ...newDraft('x'),
    digest: 'mon' as const,
    digestAt: '08:30',
    digestZone: ' Europe/Berlin ',
  };
  expect(inputOf('email', draft).digest).toEqual({ every: 'mon', at: '08:30', time_zone: 'Europe/Berlin' });
  expect(inputOf('webhook', draft)).not.toHaveProperty('digest');
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

test('a log stream has a format, filters and a first entry', () => {
  const draft = { ...newDraft('siem'), url: 'https://siem.example.com/' };
  const sent = (changed: Partial<typeof draft.stream>) =>
    inputOf('log_http', { ...draft, stream: { ...draft.stream, ...changed } }).stream;
  const all = { format: 'native', action_types: null, excluded_types: [], actors: null };
  expect(sent({})).toEqual(all);
  expect(sent({ begin: 'first' })).toEqual({ ...all, from_id: 1 });
  expect(
    sent({
      format: 'ecs',
      only: ' a,b\nc ',
      except: 'd',
      actors: ['unknown', 'member'],
      begin: 'id',
      fromId: '42',
    }),
  ).toEqual({
    format: 'ecs',
    action_types: ['a', 'b', 'c'],
    excluded_types: ['d'],
    actors: ['member', 'unknown'],
    from_id: 42,
  });
  expect(inputOf('slack', draft)).not.toHaveProperty('stream');
});

test('a heartbeat has no filters', () => {
  const draft = { ...newDraft('beat'), url: 'https://hc.example.com/1' };
  expect(inputOf('heartbeat', draft)).toEqual({ name: 'beat', url: 'https://hc.example.com/1' });
});

test('a bucket has a region and an encryption only if they were entered', () => {
  const draft = { ...newDraft('s3'), url: 'https://a.s3.eu-west-1.amazonaws.com', authorization: ' A:b ' };
  expect(newInputOf('s3', draft)).toMatchObject({ channel: 's3', url: draft.url, authorization: 'A:b' });
  expect(Object.keys(newInputOf('s3', draft))).not.toContain('region');
  const entered = { ...draft, region: ' auto ', encryption: 'AES256' };
  expect(newInputOf('s3', entered)).toMatchObject({ region: 'auto', encryption: 'AES256' });
  expect(Object.keys(newInputOf('log_http', entered))).not.toContain('region');
});
