import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { everyCheck } from '../../checks/catalogue.ts';
import { parseDesiredState } from './desired-state.ts';
import { applySchemaText } from './write-apply-schema.ts';

test('dbvitals.schema.json is up to date; `npm run apply-schema` writes it', () => {
  const written = readFileSync(new URL('../../../dbvitals.schema.json', import.meta.url), 'utf8');
  expect(written).toBe(applySchemaText());
});

/** Reads a file like `apply`, with secrets in the environment and in a folder. */
function connectionsOf(text: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-test-'));
  writeFileSync(join(folder, 'shop.password'), 'unspoken shop\n', { mode: 0o600 });
  const environment = { SHOP_PASSWORD: 'unspoken shop', BILLING_PASSWORD: 'unspoken billing' };
  const { accounts } = parseDesiredState(text, 'example', everyCheck, {
    environment,
    folder,
    secretVariables: ['SHOP_PASSWORD', 'BILLING_PASSWORD'],
    secretsDir: folder,
    dataDir: join(folder, 'data'),
    allowPrivateDestinations: false,
  });
  rmSync(folder, { recursive: true });
  return accounts.flatMap(({ connections }) => connections ?? []).map(({ name }) => name);
}

test('the example file and the provisioning page are valid', () => {
  const example = readFileSync(new URL('../../../deploy/dbvitals.yaml', import.meta.url), 'utf8');
  const page = readFileSync(new URL('../../../docs/operate/provision.md', import.meta.url), 'utf8');
  const [, shown = ''] = /^cat > dbvitals.yaml <<'END'\n(.*?)^END$/ms.exec(page) ?? [];
  expect(connectionsOf(example)).toEqual(['shop', 'billing']);
  expect(connectionsOf(shown)).toEqual(['shop']);
  expect(example).toMatch(/^# yaml-language-server: \$schema=\.\.\/dbvitals\.schema\.json\n/);
});

test('a thousand uses of an anchor are accepted, a missing anchor is reported', () => {
  const uses = Array.from(
    { length: 1_100 },
    (_, at) => `      - { <<: *own, name: c${at}, thresholds: *t }\n`,
  );
  const text = `x-own: &own { url: postgres://watcher@db/shop, thresholds: &t { PG_DEAD_TUPLES: { warning: 0.3 } } }
accounts:
  - name: Shared
    plan: team
    connections:
`;
  expect(connectionsOf(text + uses.join(''))).toHaveLength(1_100);
  expect(() => connectionsOf(`${text}      - { <<: *own, name: *name }\n`)).toThrow(
    /^example:6:27: This alias \(\*\) has no anchor/,
  );
  expect(() => connectionsOf(`${text}      - { <<: *own, name: "\\ud800" }\n`)).toThrow(
    /^example:6:21: accounts\[0\]\.connections\[0\]\.name: This text contains half of a surrogate pair/,
  );
});

test.each([
  ['accounts: [unspoken', '1:20: Flow sequence'],
  ['accounts:\n  - name: "unspoken\n', '3:1: Missing closing "quote'],
  ['accounts:\n\t- unspoken', '2:1: Tabs are not allowed'],
  ['accounts: @unspoken', '1:11: This is not YAML'],
  ['accounts: "\\q unspoken"', '1:12: This is not YAML'],
  ['accounts: !vault unspoken', '1:11: Tags'],
  ['accounts: []\naccounts: [unspoken]', '2:1: Map keys must be unique'],
  ['accounts: []\n---\nunspoken', '2:1: This starts a second YAML document'],
  ['accounts: &a\n  - *a', '2:5: accounts[0]: An account'],
  ['unspoken: 1', '1:1: Give accounts'],
  ['', '1:1: '],
])('the problem in %j is reported with its position and without its text', (text, problem) => {
  const read = () => connectionsOf(text);
  expect(read).toThrow(`example:${problem}`);
  expect(read).not.toThrow(/unspoken/);
});
