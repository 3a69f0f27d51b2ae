import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFigures } from '../../../notifications/dispatch/read-figures.ts';
import {
  hasMailDestination,
  troubledDestinations,
} from '../../../notifications/dispatch/troubled-destinations.ts';
import { moveAccount } from './move-account.ts';
import { placeOf, rowsOf, startTwoCells, type TwoCells, withoutMoved } from './move-fixture.ts';
import { GATE, MOVED, STAY } from './moved-tables.ts';
import { forgetCopies } from './undo/undo-move.ts';

let cells: TwoCells;
beforeAll(async () => {
  cells = await startTwoCells();
});
afterAll(() => cells.stop());

const selectTables = `
  select c.relname as name
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped
   where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace`;

test('every table with an account moves, or is named as one that stays', async () => {
  const { rows } = await cells.one.root.query<{ name: string }>(selectTables);
  const names = rows.map(({ name }) => name).toSorted();
  expect([...MOVED, ...GATE, ...STAY].toSorted()).toEqual(names);
});

test('moves every row as it is, and forgets the copy that is left', async () => {
  const { parts, one, two, filled } = cells;
  const before = await rowsOf(one.root, filled);
  // A table without rows would prove nothing.
  expect(MOVED.filter((table) => !(table in before))).toEqual([]);
  const others = await rowsOf(one.root, filled + 1);

  const steps: string[] = [];
  const told = { ...parts, step: (text: string) => steps.push(text) };
  expect(await moveAccount(told, filled, 2)).toMatchObject({ account_id: filled, from_cell: 1, to_cell: 2 });
  const [, done, all] =
    /, ([\d,]+) of ([\d,]+) in all$/.exec(steps.findLast((text) => /^copied/.test(text)) ?? '') ?? [];
  expect(done).toMatch(/^[\d,]+$/);
  expect(done).toBe(all);

  expect(await placeOf(cells, filled)).toEqual({ cell_id: 2, state: 'here' });
  const after = await rowsOf(two.root, filled);
  expect(withoutMoved(after)).toEqual(withoutMoved(before));
  expect(generation(after)).toBeGreaterThan(generation(before));
  const left = await rowsOf(one.root, filled);
  expect(left['activity_head']).toBeUndefined();
  expect(left['account']?.[0]).toContain('"is_here": false');

  expect(await forgetCopies(parts, filled)).toEqual({ account_id: filled, cell: 2, removed_from: [1] });
  expect(await rowsOf(one.root, filled)).toEqual({});
  expect(withoutMoved(await rowsOf(one.root, filled + 1))).toEqual(withoutMoved(others));
});

test('the copy that is left counts in no figure of its cell', async () => {
  const { parts, one, two, filled } = cells;
  const id = filled + 1;
  await one.root.query(`
    update destination set removed_at = null, state = 'enabled', channel = 'email' where account_id = ${id};
    update destination_queue set due_at = now() - interval '1000 days' where account_id = ${id};
    update destination set removed_at = now() where account_id <> ${id};
    update alert set state = 'open' where alert_id = (select min(alert_id) from alert where account_id = ${id})`);
  const before = await readFigures(one.writer);
  expect(before.oldestDueSeconds).toBeGreaterThan(999 * 86_400);
  expect(Object.values(before.alerts).some((count) => count > 0)).toBe(true);
  await moveAccount(parts, id, 2);
  expect(await readFigures(one.writer)).toEqual({
    queued: 0,
    oldestDueSeconds: 0,
    dropped: 0,
    destinations: { enabled: 0, failing: 0, disabled: 0, paused: 0 },
    alerts: { critical: 0, warning: 0, info: 0 },
    streams: [],
  });
  expect((await readFigures(two.writer)).oldestDueSeconds).toBeGreaterThan(999 * 86_400);
  expect([await troubledDestinations(one.writer), await hasMailDestination(one.writer)]).toEqual([[], false]);
  expect(await hasMailDestination(two.writer)).toBe(true);
});

const generation = (rows: Record<string, string[]>) =>
  Number(/"generation": (\d+)/.exec(rows['account']?.[0] ?? '')?.[1]);
