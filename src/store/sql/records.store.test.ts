import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { within } from '../read.ts';
import { countAndTexts, readTexts } from './records.sql.ts';

let store: TestStore;

beforeAll(async () => {
  store = await startTestStore();
});

afterAll(() => store.stop());

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
  fc.string({ unit: fc.constantFrom('"', '\\', ',', '(', ')', ' ', '\n', '{', 'a') }),
);

test('every text, and every missing one, is read as it was stored', async () => {
  const statement = countAndTexts(
    'select cardinality($1::text[])',
    `select a, n, b from unnest($1::text[], $2::text[]) with ordinality t (a, b, n) order by n`,
  );
  const row = fc.tuple(fc.option(anyText), fc.option(anyText));
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
      const columns = [rows.map(([a]) => a), rows.map(([, b]) => b)];
      const read = await readTexts(within(store.writer), statement, columns);
      expect(read).toEqual([rows.length, rows.map(([a, b], n) => [a, String(n + 1), b])]);
    }),
  );
});
