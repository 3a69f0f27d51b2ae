import { expect, test } from 'vitest';
import { everyCheck } from '../../../checks/catalogue.ts';
import { InvalidFile } from '../../invalid-file.ts';
import { UsageError } from '../../usage-error.ts';
import { parseDesiredState } from '../desired-state.ts';
import { secretVariablesOf } from './secret-variables.ts';

const environment = {
  GITHUB_TOKEN: 'unspoken token',
  SHOP_PASSWORD: 'unspoken shop',
  SHOPPING: 'unspoken shopping',
  QUOTED: '"unspoken"',
  QUOTED_LINE: "'unspoken'\n",
  CURLED: '\u201cunspoken\u201d',
  PAGER: 'A'.repeat(32),
  HOOK: 'https://hooks.slack.com/services/T0/B0/unspoken',
  DATABASE_URL_FILE: '/etc/dbvitals/database-url',
  TLS_KEY_FILE: '/etc/dbvitals/tls.key',
};

/** Parses a file whose account has this list, with --secret-env or without. */
function parse(list: string, ...allowed: string[]) {
  const text = `accounts:\n  - name: Example\n    plan: enterprise\n    ${list}\n`;
  return parseDesiredState(text, 'dbvitals.yaml', everyCheck, {
    environment,
    dataDir: '/nowhere',
    folder: '.',
    secretsDir: null,
    secretVariables: allowed.reduce<readonly string[]>(
      (before, names) => secretVariablesOf(names, before),
      [],
    ),
    allowPrivateDestinations: false,
  });
}

/** The problems of a file. */
function problemsOf(list: string, ...allowed: string[]): string {
  try {
    parse(list, ...allowed);
  } catch (error) {
    if (error instanceof InvalidFile) return error.problems.join('\n');
    throw error;
  }
  return '';
}

const TO_A_STRANGER = 'name: x, url: postgres://u@evil.example.com/d, tls: disable, expose_password: true';
const PLACES = {
  password: (name: string) => `connections: [{ ${TO_A_STRANGER}, password: { env: ${name} } }]`,
  'url of a connection': (name: string) => `connections: [{ name: x, url: { env: ${name} } }]`,
  'ssh key': (name: string) =>
    `connections: [{ ${TO_A_STRANGER}, ssh: { username: u, host: h, key: { env: ${name} } } }]`,
  'url of a destination': (name: string) =>
    `destinations: [{ name: x, channel: slack, url: { env: ${name} } }]`,
  'routing key': (name: string) =>
    `destinations: [{ name: x, channel: pagerduty, routing_key: { env: ${name} } }]`,
  authorization: (name: string) =>
    `destinations: [{ name: x, channel: webhook, url: "https://evil.example.com/", authorization: { env: ${name} } }]`,
};

test.each(Object.entries(PLACES))('%s: a file can use no variable that was not allowed', (_, list) => {
  for (const allowed of [[], ['SHOP_PASSWORD'], ['SHOP_*'], ['GITHUB'], ['github_token']]) {
    const said = problemsOf(list('GITHUB_TOKEN'), ...allowed);
    expect(said).toContain('allow it with --secret-env GITHUB_TOKEN');
    expect(said).not.toContain('unspoken');
  }
  for (const name of ['DATABASE_URL_FILE', 'TLS_KEY_FILE'])
    expect(problemsOf(list(name), 'DATABASE_*', 'TLS_*')).toContain(`the environment variable ${name}`);
});

test.each(Object.entries(PLACES))('%s: a variable in quotes is named', (_, list) => {
  for (const name of ['QUOTED', 'QUOTED_LINE', 'CURLED']) {
    const said = problemsOf(list(name), name);
    expect(said).toContain(`The environment variable ${name} is in quotes: remove them.`);
    expect(said).not.toContain('unspoken');
  }
});

test('variables are allowed by name or by the start of their names', () => {
  const passwordOf = (name: string, ...allowed: string[]) =>
    parse(PLACES.password(name), ...allowed).accounts[0]?.connections?.[0]?.address.password;
  expect(passwordOf('GITHUB_TOKEN', 'SHOP_*, GITHUB_TOKEN')).toBe('unspoken token');
  expect(passwordOf('SHOP_PASSWORD', 'X', 'SHOP_*')).toBe('unspoken shop');
  expect(problemsOf(PLACES.password('SHOPPING'), 'SHOP_*')).toContain('may not use');
  const destinations = parse(PLACES['routing key']('PAGER'), 'PAGER').accounts[0]?.destinations;
  expect(destinations?.[0]?.routingKey).toBe(environment.PAGER);
  expect(parse(PLACES['url of a destination']('HOOK'), 'HOOK').accounts).toHaveLength(1);
});

test.each([
  '*',
  '',
  'A,',
  'SHOP*',
  'SHOP_*X',
  '*_TOKEN',
  '1A',
  'A B',
  '^A',
  'DBVITALS_SECRET_KEY',
  'DBVITALS_*',
  'dbvitals_*',
  'DATABASE_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'PORT',
])('--secret-env refuses %j', (names) => {
  expect(() => secretVariablesOf(names)).toThrow(UsageError);
});
