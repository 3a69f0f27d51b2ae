import { expect, test } from 'vitest';
import { expectMeasures } from '../../../test/support/expect-measures.ts';
import { seen } from '../../../test/support/seen-judgement.ts';
import { judgementOf } from '../judgement-of.ts';
import { nameResolution } from './name-resolution.ts';

interface Server {
  settings?: Record<string, string | number>;
  /** Accounts with a host name. */
  named?: number;
  addresses?: number;
  unnamed?: number;
}

function judge({ settings = {}, named = 0, addresses = 5, unnamed = 2 }: Server) {
  const shown = {
    skip_name_resolve: 'OFF',
    skip_networking: 'OFF',
    performance_schema: 'ON',
    host_cache_size: 279,
    ...settings,
  };
  const rows = [
    ...Object.entries(shown).map(([name, value]) => ({ Variable_name: name, Value: String(value) })),
    { by_name: named },
    { addresses, unnamed },
  ];
  const judgement = seen(
    judgementOf(nameResolution, rows, { version: 90_700, database: '', now: new Date('2026-11-21') }),
  );
  expectMeasures(nameResolution, judgement);
  return judgement;
}

test('addresses without a name are a finding if no account needs a name', () => {
  const { faults } = judge({});
  expect(faults).toMatchObject([{ severity: 'info', object: null }]);
  expect(faults[0]?.metricLine).toMatch(/^2 of 5 client addresses have no name /);
});

test.each<[string, Server]>([
  ['every client has a name', { unnamed: 0 }],
  ['an account has a host name', { named: 1 }],
  ['no names are looked up', { settings: { skip_name_resolve: 'ON' } }],
  ['there is no network', { settings: { skip_networking: 'ON' } }],
])('no finding if %s', (_, server) => {
  const { faults, skipped } = judge(server);
  expect([faults, skipped]).toEqual([[], undefined]);
});

test.each([{ performance_schema: 'OFF' }, { host_cache_size: 0 }])(
  '%j: the server shows no addresses',
  (settings) => {
    expect(judge({ settings }).skipped).toMatch(/^Not measured: /);
  },
);
