import { expect, test } from 'vitest';
import { isOfVersion, serverVersion, versionSeries } from './server-version.ts';

test.each([
  ['postgres', 180_004, '18.4', '18'],
  ['postgres', 140_022, '14.22', '14'],
  ['mysql', 80_036, '8.0.36', '8.0'],
  ['mysql', 90_700, '9.7.0', '9.7'],
  ['mariadb', 101_106, '10.11.6', '10.11'],
  ['mariadb', 110_803, '11.8.3', '11.8'],
] as const)('%s %i is %s, of %s', (engine, version, text, series) => {
  expect([serverVersion(engine, version), versionSeries(engine, version)]).toEqual([text, series]);
});

test.each([
  ['18.4', '18', true],
  ['18.4', '18.4', true],
  ['8.0.36', '8.0', true],
  ['18.4', '1', false],
  ['18.40', '18.4', false],
  ['8.0.36', '8.0.3', false],
])('%s is of %s: %s', (version, wanted, is) => {
  expect(isOfVersion(version, wanted)).toBe(is);
});
