import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { misspeltSettings, SETTING_NAMES } from './setting-names.ts';

test.each([
  ['DBVITALS_DATADIR', 'DBVITALS_DATA_DIR'],
  ['DBVITALS_DATA_DRI', 'DBVITALS_DATA_DIR'],
  ['dbvitals_data_dir', 'DBVITALS_DATA_DIR'],
  ['DBVITALS_SECRET_FILE', 'DBVITALS_SECRET_KEY_FILE'],
  ['DBVITALS_SECRET', 'DBVITALS_SECRET_KEY'],
  ['DBVITALS_CELLS', 'DBVITALS_CELLS_FILE'],
  ['DBVITALS_PUBLICURL', 'DBVITALS_PUBLIC_URL'],
  ['DBVITALS_ALLOW_PRIVATE_TARGET', 'DBVITALS_ALLOW_PRIVATE_TARGETS'],
  ['DBVITALS_SMTPURL', 'DBVITALS_SMTP_URL'],
  ['DBVITALS_DATABASE_URL', 'DATABASE_URL'],
  ['DBVITALS_LOG_LEVEL', 'LOG_LEVEL'],
  ['DBVITALS_PORT', 'PORT'],
  ['DBVITAL_DATA_DIR', 'DBVITALS_DATA_DIR'],
  ['DBVITLAS_SEAL_FILE', 'DBVITALS_SEAL_FILE'],
  ['VITALS_SEAL_FILE', 'DBVITALS_SEAL_FILE'],
  ['METRIC_PORT', 'METRICS_PORT'],
  ['DATABSE_URL', 'DATABASE_URL'],
  ['TLS_CERTFILE', 'TLS_CERT_FILE'],
])('%s: did you mean %s?', (name, meant) => {
  expect(misspeltSettings({ [name]: '8080' })).toEqual([`${name} is not a setting: did you mean ${meant}?`]);
});

test("a platform's own variables and correct settings are not reported", () => {
  // Set by Kubernetes for services named dbvitals and dbvitals-metrics.
  const links = {
    DBVITALS_SERVICE_HOST: '10.0.0.1',
    DBVITALS_SERVICE_PORT: '8080',
    DBVITALS_SERVICE_PORT_HTTP: '8080',
    DBVITALS_PORT: 'tcp://10.0.0.1:8080',
    DBVITALS_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
    DBVITALS_PORT_8080_TCP_PROTO: 'tcp',
    DBVITALS_PORT_8080_TCP_PORT: '8080',
    DBVITALS_PORT_8080_TCP_ADDR: '10.0.0.1',
    DBVITALS_METRICS_SERVICE_HOST: '10.0.0.2',
    DBVITALS_METRICS_SERVICE_PORT_METRICS: '9090',
    DBVITALS_METRICS_PORT: 'tcp://10.0.0.2:9090',
  };
  // The variables of deploy/compose.yaml, and one that resembles no setting.
  const others = {
    DBVITALS_SITE: 'localhost',
    DBVITALS_IMAGE: 'dbvitals',
    DBVITALS_TEAM_CHANNEL: 'x',
    PATHS: 'y',
    // Of other programs.
    HOSTS: 'a',
    PORTS: '1',
    POSTGRES_URL: 'postgres://h/d',
    METRICS_ENABLED: 'true',
    LOG_LEVELS: 'debug',
  };
  const settings = Object.fromEntries(SETTING_NAMES.map((name) => [name, 'x']));
  expect(misspeltSettings({ ...links, ...others, ...settings })).toEqual([]);
});

// | `HOST`, … | `127.0.0.1` | …
const rows = [
  ...readFileSync(new URL('../../docs/reference/settings.md', import.meta.url), 'utf8').matchAll(
    /^\| (`.*?) \| (.*?) \|/gm,
  ),
].map(([, names = '', value = '']) => ({
  names: [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name),
  value,
}));

test('docs/reference/settings.md has every setting, and no other', () => {
  const named = rows.flatMap(({ names }) => names).filter((name) => !name.startsWith('OTEL_'));
  expect(named.toSorted()).toEqual([...SETTING_NAMES].toSorted());
});

test("docs/reference/settings.md has the program's defaults", () => {
  const config = readConfig({});
  const defaultOf = (name: string) => rows.find(({ names }) => names.includes(name))?.value;
  const yesNo = (value: boolean) => (value ? 'yes' : 'no');
  for (const [name, value] of [
    ['DBVITALS_DATA_DIR', config.dataDir],
    ['HOST', config.host],
    ['PORT', config.port],
    ['DBVITALS_DRAIN_SECONDS', config.drainSeconds],
    ['DBVITALS_ALLOW_CONSOLE_SOCKETS', yesNo(config.allowConsoleSockets)],
    ['DBVITALS_ALLOW_PRIVATE_DESTINATIONS', yesNo(config.allowPrivateDestinations)],
    ['DBVITALS_ALLOW_PRIVATE_TARGETS', yesNo(config.allowPrivateTargets)],
    ['LOG_LEVEL', config.logLevel],
  ] as const)
    expect(defaultOf(name), name).toBe(`\`${value}\``);
});
