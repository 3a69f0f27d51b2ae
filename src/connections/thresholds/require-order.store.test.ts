import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { everyCheck } from '../../checks/catalogue.ts';
import type { OwnCheck } from '../../checks/own/own-check.ts';
import { ownCheck } from '../../checks/own/own-check-fixture.ts';
import { addConnection } from '../add-connection.ts';
import { changeConnection } from '../change-connection.ts';
import type { ThresholdChanges } from '../connection-thresholds.ts';
import { setOwnCheck } from '../own-checks/set-own-check.ts';
import { changeTags, changeTagsWithin } from '../tags/change-tags.ts';
import { changeOverrides, changeOverridesWithin } from './change-overrides.ts';
import { changeOwnThresholds } from './change-own-thresholds.ts';
import { requireOrderWithDefaults, requireOrderWithin } from './require-order.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

/** An account with a connection, and every way to set its thresholds. */
async function watched() {
  const accountId = await store.account();
  const id = await store.connection(accountId);
  const by: Parameters<typeof changeTags>[0] = (work) => changeAccount(store.writer, accountId, work);
  const all = (changes: ThresholdChanges) => changeOverrides(by, '', changes);
  return {
    by,
    id,
    all,
    tag: (tag: string, changes: ThresholdChanges) => changeOverrides(by, tag, changes),
    own: (changes: ThresholdChanges) => changeOwnThresholds(by, [id], changes),
    edit: (thresholds: ThresholdChanges) => changeConnection(by, store.deps.secret, id, { thresholds }),
    check: (given: Partial<OwnCheck>) => by((change) => setOwnCheck(change, ownCheck(given))),
    tags: (add: string[], remove: string[] = []) => changeTags(by, [id], { add, remove }),
    add: (thresholds: ThresholdChanges) =>
      addConnection(by, store.deps.secret, {
        name: 'new',
        engine: 'postgres',
        connection_type: 'direct',
        tls: 'verify-full',
        host: 'db.example.com',
        port: 5432,
        database: 'a',
        username: 'u',
        password: 'p',
        every: 300,
        thresholds,
      }),
  };
}

// Defaults: warning 0.8, critical 0.95. The higher the value, the worse.
const used = (levels: { warning?: number; critical?: number }): ThresholdChanges => ({
  PG_CONN_SATURATION: levels,
});
const refused = (work: Promise<unknown>) =>
  expect(work).rejects.toThrow(
    /^PG_CONN_SATURATION.* critical .* would be reached before warning .*Set both/s,
  );

test('the defaults of every check are in order', () => {
  for (const { id, thresholds } of everyCheck as readonly {
    id: string;
    thresholds?: Record<string, number>;
  }[])
    expect(() => requireOrderWithin({ [id]: thresholds ?? {} }), id).not.toThrow();
});

test('one set of thresholds does not contradict itself or a default', () => {
  expect(() => requireOrderWithDefaults({ PG_CONN_SATURATION: { critical: 0.5 } })).toThrow(
    'critical 0.5 (of the connection) would be reached before warning 0.8 (the default)',
  );
  expect(() =>
    requireOrderWithDefaults({ PG_CONN_SATURATION: { warning: 0.5, critical: 0.5 } }),
  ).not.toThrow();
  // Here the lower value is worse.
  expect(() => requireOrderWithin({ PG_SLOT_WAL_LEFT: { warning: 0.1, critical: 0.2 } })).toThrow(/WAL_LEFT/);
  expect(() => requireOrderWithin({ PG_SLOT_WAL_LEFT: { warning: 0.2, critical: 0.1 } })).not.toThrow();
});

test.each(['all', 'own', 'edit', 'add', 'tag'] as const)(
  '%s: refuses a critical level below a warning',
  async (way) => {
    const account = await watched();
    const change = (levels: { warning?: number; critical?: number }) =>
      way === 'tag' ? account.tag('pci', used(levels)) : account[way](used(levels));
    await refused(change({ critical: 0.5 })); // below the default warning
    await refused(change({ warning: 0.99 })); // above the default critical
    await refused(change({ warning: 0.9, critical: 0.7 }));
    await change({ warning: 0.5, critical: 0.5 });
  },
);

test('two levels of different sources are judged together, whichever is set last', async () => {
  const warning = used({ warning: 0.9 });
  const critical = used({ critical: 0.85 });
  const steps: ((account: Awaited<ReturnType<typeof watched>>) => Promise<unknown>)[] = [
    ({ all }) => all(critical),
    ({ tags, tag }) => tags(['pci']).then(() => tag('pci', warning)),
    ({ own }) => own(warning),
  ];
  for (const first of [0, 1, 2])
    for (const second of [0, 1, 2].filter((other) => (first === 0) !== (other === 0))) {
      const account = await watched();
      await steps[first]?.(account);
      await refused(steps[second]?.(account) ?? Promise.resolve());
    }
});

test('a tag is neither added nor taken away where the levels would contradict each other', async () => {
  const { own, tag, tags } = await watched();
  await tag('pci', used({ critical: 0.85 }));
  await own(used({ warning: 0.9 }));
  await refused(tags(['pci']));
  await own({ PG_CONN_SATURATION: { warning: null } });
  // Of several tags, the stricter value counts for each level.
  await tag('shop', used({ warning: 0.9, critical: 0.93 }));
  await tag('strict', used({ warning: 0.5, critical: 0.6 }));
  await refused(tags(['pci', 'shop']));
  await tags(['pci', 'shop', 'strict']);
  await refused(tags([], ['strict']));
  await tags([], ['pci']);
  await tags([], ['strict']);
});

test('only the end of a change counts, and nothing of a refused one is kept', async () => {
  const { by, id, all, own } = await watched();
  await all(used({ warning: 0.5, critical: 0.6 }));
  const both = (last: number) =>
    by(async (change) => {
      await changeTagsWithin(change, [id], { add: ['pci'] });
      await changeOverridesWithin(change, 'pci', used({ warning: 0.9 }));
      await changeOverridesWithin(change, '', used({ critical: last }));
    });
  await refused(both(0.85));
  expect(
    (await store.writer.query('select from connection_tags where connection_id = $1', [id])).rowCount,
  ).toBe(0);
  await both(0.92);
  await refused(own(used({ critical: 0.8 })));
});

const stuck = (levels: { warning?: number; critical?: number }): ThresholdChanges => ({
  OWN_ORDERS_STUCK: levels,
});
const contradicts = (work: Promise<unknown>) =>
  expect(work).rejects.toThrow(/^OWN_ORDERS_STUCK.* critical .* would be reached before warning /s);

test.each([
  [
    '>=',
    { warning: 10, critical: 100 },
    { critical: 5 },
    { warning: 200 },
    { warning: 50 },
    { critical: 30 },
  ],
  [
    '<=',
    { warning: 100, critical: 10 },
    { critical: 200 },
    { warning: 5 },
    { warning: 50 },
    { critical: 70 },
  ],
] as const)(
  'levels of an own check (%s) are judged with thresholds, whichever is set last',
  async (operator, levels, critical, warning, fits, late) => {
    const { all, own, tag, tags, check } = await watched();
    await all(stuck(critical)); // of no check yet
    await contradicts(check({ operator, ...levels }));
    await all({ OWN_ORDERS_STUCK: { critical: null } });
    await check({ operator, ...levels });
    for (const set of [critical, warning]) {
      await contradicts(all(stuck(set)));
      await contradicts(own(stuck(set)));
      await contradicts(tag('pci', stuck(set)));
    }
    await tag('pci', stuck(fits));
    await tags(['pci']);
    await contradicts(own(stuck(late)));
    await contradicts(check({ operator, ...levels, ...late }));
  },
);

test('levels of an own check are judged only where it runs', async () => {
  const { own, check, tags } = await watched();
  await check({ warning: 10, critical: 100, tags: ['pci'] });
  await own(stuck({ critical: 5 }));
  await tags(['shop']);
  await check({ warning: 10, critical: 100, engine: 'mysql' });
  await contradicts(check({ warning: 10, critical: 100 }));
});

test('a tag that makes an own check run is refused where older thresholds contradict its levels', async () => {
  const { own, check, tags } = await watched();
  await check({ warning: 10, critical: 100, tags: ['pci', 'shop'] });
  await own(stuck({ critical: 5 }));
  await tags(['shop']);
  await contradicts(tags(['pci']));
  await own(stuck({ critical: 50 }));
  await tags(['pci']);
});
