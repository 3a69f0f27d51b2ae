import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { ConnectionFacts } from './fact-routes.ts';

let store: TestStore;
let console: TestConsole;
beforeAll(async () => {
  store = await startTestStore();
  console = await openTestConsole(store);
});
afterAll(async () => {
  await console.close();
  await store.stop();
});

const insert = `
  insert into fact_snapshot (account_id, connection_id, kind, database, read_at, digest, facts)
  select $1, $2, kind, database, now(), '', jsonb_build_object('basis', '', 'facts', facts)
    from jsonb_to_recordset($3::jsonb) as r (kind text, database text, facts jsonb)`;

test('settings, version and extensions are listed, and nothing else of the server', async () => {
  const ada = await console.owner();
  const eve = await console.owner();
  const id = await store.connection(ada.accountId);
  const readings = [
    { kind: 'setting', database: '', facts: [['setting', 'work_mem', '4MB', { source: 'ALTER SYSTEM' }]] },
    {
      kind: 'role_setting',
      database: '',
      facts: [['setting', 'work_mem (role app)', '8MB', { database: 'shop' }]],
    },
    {
      kind: 'server',
      database: '',
      facts: [
        ['version', 'PostgreSQL', '18.4'],
        ['restart', 'server', 'x'],
      ],
    },
    { kind: 'extension', database: 'shop', facts: [['extension', 'pgcrypto', '1.4']] },
    { kind: 'schema', database: 'shop', facts: [['table', 'public.secret_plans', '']] },
    { kind: 'standby', database: '', facts: [['standby', 'two', 'host']] },
  ];
  await store.writer.query(insert, [ada.accountId, id, JSON.stringify(readings)]);
  const path = `/connections/${id}/facts`;
  const { data } = await ada.read<ConnectionFacts>(path);
  expect(data).toEqual([
    { kind: 'extension', database: 'shop', subject: 'pgcrypto', value: '1.4', source: null },
    { kind: 'setting', database: 'shop', subject: 'work_mem (role app)', value: '8MB', source: null },
    { kind: 'version', database: '', subject: 'PostgreSQL', value: '18.4', source: null },
    { kind: 'setting', database: '', subject: 'work_mem', value: '4MB', source: 'ALTER SYSTEM' },
  ]);
  expect((await eve.refused(path))[0]).toBe(404);
  expect(await ada.read(`/connections/${await store.connection(ada.accountId)}/facts`)).toEqual({ data: [] });
});
