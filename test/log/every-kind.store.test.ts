import { Ajv } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addAccount } from '../../src/accounts/add-account.ts';
import { ACTION_TYPES } from '../../src/activity/catalogue/catalogue.ts';
import { ecsProblems } from '../../src/activity/formats/ecs-fixture.ts';
import { entryProblems } from '../../src/activity/formats/entry-fixture.ts';
import { type EntryFormat, formatEntry } from '../../src/activity/formats/format.ts';
import { ocsfProblems } from '../../src/activity/formats/ocsf-fixture.ts';
import type { ShownEntry } from '../../src/activity/formats/shown-entry.ts';
import { askEndpoint } from '../../src/api/endpoints/ask-fixture.ts';
import { ActivityEntry, entries } from '../../src/api/endpoints/entries.ts';
import { everyCheck } from '../../src/checks/catalogue.ts';
import { score, summaryText } from '../../src/checks/score.ts';
import type { Catalogue } from '../../src/cli/command.ts';
import { writeSampleData } from '../../src/cli/sample-data/sample-data.ts';
import { addTo, firstRow } from '../../src/notifications/dispatch/dispatcher-fixture.ts';
import { openPool } from '../../src/store/connect.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { deleteOldEntries } from './old-entries.ts';
import { actAsPeople, actWithKeys } from './people.ts';
import { changeDestinations, usePages } from './receivers.ts';
import { openScene, type Scene } from './scene.ts';
import { actOnFaults, changeConnections } from './servers.ts';

let store: TestStore;
let scene: Scene;
/** Everything that this test's actions wrote, by account, as endpoint 6 shows it with `include=actor`. */
const written = new Map<number, (ShownEntry & { outcome: string })[]>();

beforeAll(async () => {
  store = await startTestStore();
  scene = await openScene(store);
  await actAsPeople(scene);
  await actWithKeys(scene);
  await changeConnections(scene);
  await actOnFaults(scene);
  await changeDestinations(scene);
  await usePages(scene);
  const accounts = [scene.accountId, await deleteOldEntries(scene), await addSample()];
  for (const accountId of accounts) written.set(accountId, await readLog(accountId));
});

afterAll(async () => {
  await scene.close();
  await store.stop();
});

async function addSample(): Promise<number> {
  const account = { name: 'Sample', kind: 'company', plan: 'enterprise', requests_per_minute: null } as const;
  const { id: accountId } = await addAccount(store.writer, account);
  const catalogue: Catalogue = { checks: everyCheck, score: (all) => score(all, []), summaryText };
  const size = { connections: 10, tickets: 20, activity: 500, days: 9, seed: 7, secret: null };
  await writeSampleData(store.writer, scene.owner, catalogue, { accountId, ...size });
  return accountId;
}

async function readLog(accountId: number) {
  const reader = openPool(store.address, 'reader', { max: 1 });
  const all: (ShownEntry & { outcome: string })[] = [];
  for (let after = 0, more = true; more; after = all.at(-1)?.id ?? 0) {
    const asked = `order=asc&per_page=100&include=actor&after_id=${after}`;
    const { body } = await askEndpoint(reader, entries, accountId, { asked });
    all.push(...body.data);
    more = body.data.length > 0;
  }
  await reader.end();
  return all;
}

const everyEntry = () =>
  [...written].flatMap(([accountId, log]) => log.map((entry) => ({ accountId, entry })));

test('every kind of the catalogue was really written', () => {
  const kinds = new Set(everyEntry().map(({ entry }) => entry.action_type));
  const missing = ACTION_TYPES.filter((type) => !kinds.has(type));
  expect(missing, 'let an action in test/log cause it').toEqual([]);
});

test('every entry that was written is as the catalogue and the API say, and valid as OCSF and ECS', () => {
  const ajv = new Ajv({ strict: false, formats: { 'date-time': true, int64: true } });
  const isEntry = ajv.compile(ActivityEntry);
  const problems = new Set<string>();
  for (const { accountId, entry } of everyEntry()) {
    const say = (problem: string) => problems.add(`${entry.action_type}: ${problem}`);
    if (!isEntry(entry))
      for (const error of isEntry.errors ?? []) say(`${error.instancePath} ${error.message}`);
    for (const problem of entryProblems(entry)) say(problem);
    for (const problem of ocsfProblems(formatEntry('ocsf', entry, accountId))) say(`OCSF: ${problem}`);
    for (const problem of ecsProblems(formatEntry('ecs', entry, accountId))) say(`ECS: ${problem}`);
    const { event } = formatEntry('ecs', entry, accountId) as { event: { outcome: string } };
    if (event.outcome !== entry.outcome) say(`its outcome is ${entry.outcome}, in ECS ${event.outcome}`);
  }
  expect([...problems]).toEqual([]);
});

test('log streams deliver the same in each format', async () => {
  const log = written.get(scene.accountId) ?? [];
  const last = log.at(-1)?.id ?? 0;
  for (const format of ['native', 'ocsf', 'ecs'] satisfies EntryFormat[]) {
    const path = `/stream-${format}`;
    const url = `${scene.receiver.url}${path}`;
    const wanted = { name: format, channel: 'log_http', url, stream: { fromId: 1, format } } as const;
    const id = await addTo(store, scene.accountId, wanted);
    await firstRow(store, 'select 1 as there from log_stream where destination_id = $1 and next_id > $2', [
      id,
      last,
    ]);
    const lines = scene.receiver.got
      .filter((request) => request.path === path)
      .flatMap(({ body }) => body.trim().split('\n'));
    const delivered = lines.map((line) => JSON.parse(line)).slice(0, log.length);
    const shown = log.map(({ id: entryId, action_type, page_path, properties, occurred_at }) =>
      formatEntry(format, { id: entryId, action_type, page_path, properties, occurred_at }, scene.accountId),
    );
    expect(delivered).toEqual(JSON.parse(JSON.stringify(shown)));
  }
});
