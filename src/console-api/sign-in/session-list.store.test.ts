import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { Sessions } from './session-list.ts';

let store: TestStore;
let served: TestConsole;
beforeAll(async () => {
  store = await startTestStore();
  served = await openTestConsole(store);
});
afterAll(async () => {
  await served.close();
  await store.stop();
});

// Several have the same time, and one was not used for so long that it has ended.
const insertMany = `
  insert into session (token_hash, login_id, account_id, expires_at, source_ip, user_agent, last_seen_at)
  select sha256(n::text::bytea), login_id, account_id, now() + interval '1 day', '127.0.0.1', '',
         now() - n / 3 * interval '1 second' - case n when 0 then interval '13 hours' else '0' end
    from member, generate_series(0, 130) n
   where member_id = $1`;

test('sessions come in pages, each once and last used first', async () => {
  const owner = await served.owner();
  await store.writer.query(insertMany, [owner.memberId]);
  const first = await owner.read<Sessions>('/sessions');
  expect(first.data).toHaveLength(50);
  const pages = [await owner.read<Sessions>('/sessions?limit=60')];
  for (let next = pages[0]?.next; next; next = pages.at(-1)?.next)
    pages.push(await owner.read<Sessions>(`/sessions?limit=60&before=${next}`));
  expect(pages.map(({ data }) => data.length)).toEqual([60, 60, 11]);
  const all = pages.flatMap(({ data }) => data);
  expect(new Set(all.map(({ id }) => id)).size).toBe(131); // 130 and the one of these requests
  expect(all.filter(({ current }) => current)).toHaveLength(1);
  expect(all.map(({ last_seen_at }) => last_seen_at)).toEqual(
    all
      .map(({ last_seen_at }) => last_seen_at)
      .toSorted()
      .reverse(),
  );
  expect(await owner.refused('/sessions?before=2026-13-41T00:00:00.000000Z_1')).toMatchObject([
    400,
    'invalid_parameter',
    'before must be the next of a page of sessions.',
    'before',
  ]);
});
