import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { commandsIn, linesNotPrinted, type PageCommand, pagePaths } from '../support/page-commands.ts';
import { makeAccount } from './account.ts';
import { fixtureJson, hostedCommand } from './fixture-command.ts';
import { temporaryFolder } from './running-service.ts';

// Every command line of every page is run as it stands there, in the order of the page, on one account of the run's store. Only
// ids, addresses of example servers and files are replaced by those that exist here. test/house/command-lines.test.ts parses
// those that cannot run here too.

/** Commands that stay, and pages that other tests follow, each with the test that runs them. */
const ELSEWHERE: readonly [what: RegExp, where: string][] = [
  [/^(?:serve|monitor)\b/, 'test/house/operate.store.test.ts'],
  [/^collect(?:or revoke)?\b(?!or)/, 'test/contract/collector.test.ts'],
  [
    /^(?:exporter|mcp)\b|^activity tail\b.*--url/,
    'test/contract/exporter.test.ts, mcp-life.test.ts, tail.test.ts',
  ],
  [/^activity verify \//, 'test/contract/rewritten-log.test.ts'],
  [/^webhook listen/, 'test/contract/destinations.test.ts'],
  [
    /^(?:account move|migrate|restore|backup|doctor|apply)\b/,
    'test/house/operate.store.test.ts, src/store/directory/move',
  ],
  [/^secret rotate/, 'test/contract/secret-rotation.test.ts'],
  [/^(?:is|starts|stops|has|COMMAND)\b/, 'not a command: a line that dbvitals prints about itself'],
  [/^alert acknowledge/, 'test/contract/alert-rules.test.ts'],
  [/^ticket (?:acknowledge|snooze)/, 'src/cli/tickets/ticket-command.store.test.ts'],
  [/^check try/, 'src/connections/own-checks/own-checks.store.test.ts'],
  [/^top\b/, 'test/contract/standstill.test.ts'],
  [/^destination (?:test|send-digest)/, 'test/contract/destinations.test.ts'],
  [/--token-source/, 'src/monitor/tokens/token-login.store.test.ts'],
];
// Written from the commands; and followed block by block in test/house/operate.store.test.ts.
const OTHER_PAGES = /^docs\/(?:reference\/commands\.md|operate\/restore\.md)/;

/** Exit codes that mean what the page says. The examples' server and query do not exist: that is the worst finding. */
const EXITS: readonly [RegExp, number][] = [
  [/^check run --url/, 2],
  [/^queries text/, 1],
];

/** What the pages of checks leave to the reader. */
const CHOICES: readonly [RegExp, string][] = [
  [/^\[|\]$/g, ''], // an option that may be left out
  [/^(\w+)(?:\|\w+)+$/, '$1'], // one of several words
  [/^T$/, '90d'],
  [/^…$/, 'accepted until the next release'],
  [/^CHECK_ID$/, 'PG_DEAD_TUPLES'],
];

/** The file of `check run --own`. */
const OWN_CHECKS = `checks:
  - { id: ONE, title: One, engine: postgresql, sql: select 1 as value, unit: count, operator: ">=", warning: 2 }
`;

const folder = temporaryFolder();
let account = 0;
let connection = 0;
/** By the prefix of the checks of another engine. */
const ofEngine: Record<string, number> = {};
let member = 0;
let publicKey = '';

beforeAll(async () => {
  const url = 'https://hooks.slack.com/services/T0/B0/unspoken';
  writeFileSync(join(folder.path, 'slack-url'), `${url}\n`, { mode: 0o600 });
  writeFileSync(join(folder.path, 'own.yaml'), OWN_CHECKS);
  ({ id: account } = await makeAccount());
  const inAccount = ['--account', `${account}`];
  for (const name of ['shop-1', 'prod-1']) {
    const url = ['--name', name, '--url', 'postgres://u@db.invalid/shop'];
    ({ id: connection } = await fixtureJson<{ id: number }>(['connection', 'add', ...inAccount, ...url]));
  }
  for (const [prefix, url] of [
    ['MY', 'mysql://u@db.invalid/shop'],
    ['PB', 'pgbouncer://u@db.invalid/pgbouncer'],
  ] as const) {
    const named = ['--name', `pages of ${prefix}`, '--url', url];
    const { id } = await fixtureJson<{ id: number }>(['connection', 'add', ...inAccount, ...named]);
    ofEngine[prefix] = id;
  }
  const person = ['--name', 'Ada', '--email', 'ada@pages.example', '--role', 'owner'];
  ({ id: member } = await fixtureJson<{ id: number }>(['member', 'add', ...inAccount, ...person]));
  await fixtureJson(['activity', 'seal', ...inAccount]);
  ({ public_key: publicKey } = await fixtureJson<{ public_key: string }>([
    'activity',
    'seal',
    ...inAccount,
    '--public-key',
  ]));
});

afterAll(() => folder.remove());

/** The ids of what the page added, by the first words of the command. */
type Added = Map<string, string>;

/** The words with what exists here in place of what the page has for an example. */
function here({ page, words }: PageCommand, added: Added): string[] {
  const kind = words.slice(0, words[1] === 'rule' ? 2 : 1).join(' ');
  const [, prefix = ''] = /^docs\/checks\/([A-Z]+)_/.exec(page) ?? [];
  const watched = `${ofEngine[prefix] ?? connection}`;
  const own: Record<string, string> = { account: `${account}`, connection: watched };
  return words.map((word, at) => {
    const before = words[at - 1] ?? '';
    const isExample = /^(?:ID|\d+)$/.test(word);
    if (before === '--account' && isExample) return `${account}`;
    if (before === '--connection' && isExample) return added.get('connection') ?? watched;
    if (before === '--public-key') return publicKey;
    if (before === '--member') return `${member}`;
    if (['change', 'remove', 'revoke', 'test', 'regenerate'].includes(before) && isExample)
      return added.get(kind) ?? own[kind] ?? word;
    if (before === '--url' && word === '…') return 'postgres://u@db.invalid/shop';
    if (word === 'slack-url' || word === 'own.yaml') return join(folder.path, word);
    if (word === 'N') return '500';
    return CHOICES.reduce((text, [what, choice]) => text.replace(what, choice), word)
      .replace('db.example.com', 'db.invalid')
      .replace('@db:5432', '@db.invalid:5432');
  });
}

/** Leaves out options whose file is not on this machine. */
function withoutFiles(words: readonly string[]): string[] {
  const at = words.indexOf('--seal-file');
  return at < 0 ? [...words] : words.toSpliced(at, 2);
}

async function follow(step: PageCommand, added: Added): Promise<void> {
  const { page, line, settings, output } = step;
  const words = withoutFiles(here(step, added));
  const environment = { ...inject('environment'), ...settings };
  // A bucket has an access key, Sentinel an app registration, everything else a password.
  const parts = words.includes('sentinel') ? 'example.com:0123-4567:unspoken' : 'unspoken password';
  const input = words.includes('s3') ? 'ACMEKEY:unspoken' : parts;
  const { exit, stdout, stderr } = await hostedCommand(words, environment, `${input}\n`);
  const text = words.join(' ');
  const place = `${page}:${line}: dbvitals ${text}\n${stdout}${stderr}`;
  expect(exit, place).toBe(EXITS.find(([what]) => what.test(text))?.[1] ?? 0);
  expect(linesNotPrinted(output, stdout), place).toEqual([]);
  const [, id] = /^id\s+(\d+)$/m.exec(stdout) ?? [];
  const kind = words.slice(0, words[1] === 'rule' ? 2 : 1).join(' ');
  if (id !== undefined && /\b(?:add|create)\b/.test(text)) added.set(kind, id);
}

const pages = pagePaths()
  .filter((page) => !OTHER_PAGES.test(page))
  .map((page) => {
    const all = commandsIn(page).filter(
      ({ words, isBlock }) => isBlock || words.some((word) => !/^[a-z][a-z-]*$/.test(word)),
    );
    const commands = all.filter(({ words }) => !ELSEWHERE.some(([what]) => what.test(words.join(' '))));
    return { page, commands };
  })
  .filter(({ commands }) => commands.length > 0);

test('the pages are found', () => {
  const names = pages.map(({ page }) => page);
  expect(names).toContain('docs/notifications/delivery.md');
  expect(names.length).toBeGreaterThan(12);
});

test.each(pages)('the commands of $page work, in order', async ({ commands }) => {
  const added: Added = new Map();
  for (const step of commands) await follow(step, added);
});
