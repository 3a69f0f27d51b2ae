import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertSession } from '../../../../test/support/console-reads.ts';
import { startTestStore, type TestStore } from '../../../../test/support/store.ts';
import { consoleOn } from '../../../console-api/console-fixture.ts';
import { hashToken, newToken } from '../../../platform/token.ts';
import { hashNewPassword } from '../password.ts';
import { MOST_SESSIONS } from './session-limit.ts';

let store: TestStore;
let app: Awaited<ReturnType<typeof consoleOn>>;
beforeAll(async () => {
  store = await startTestStore();
  app = await consoleOn(store, store.writer, () => Promise.reject(new Error('not in this test')));
});
afterAll(async () => {
  await app.close();
  await store.stop();
});

const password = 'slow-otters-carry-9-lanterns';
const setPassword = 'update login set password = $2 where email = $1';

// The first of them was not used for longest; one ended by itself.
const insertMany = `
  insert into session (token_hash, login_id, account_id, expires_at, source_ip, user_agent, last_seen_at)
  select sha256(n::text::bytea), login_id, account_id, now() + interval '1 day', '127.0.0.1', 'earlier ' || n,
         case n when 0 then now() - interval '13 hours' else now() - (200 - n) * interval '1 minute' end
    from member, generate_series(0, 99) n
   where email = $1`;

const selectLiving = `
  select s.user_agent
    from session s
    join login l using (login_id)
   where l.email = $1 and s.last_seen_at > now() - interval '12 hours'
   order by s.last_seen_at`;
const selectEnded = `
  select count(*)::int as entries, sum(jsonb_array_length(properties->'session_ids'))::int as sessions
    from activity
   where account_id = $1 and action_type = 'session_ended' and properties->'too_many' = 'true'`;

async function signIn(email: string): Promise<number> {
  const caller = { requestId: 'x', address: '127.0.0.1', origin: 'http://localhost' };
  const { statusCode } = await app.inject({
    method: 'POST',
    url: '/console/api/sign-in',
    headers: {
      'dbvitals-caller': JSON.stringify(caller),
      'content-type': 'application/json',
      'user-agent': 'new',
      origin: 'http://localhost',
    },
    body: JSON.stringify({ email, password }),
  });
  return statusCode;
}

test('sign-ins at the same time end the sessions that were not used for longest, and log them', async () => {
  const accountId = await store.account();
  const email = `many-sessions-${accountId}@example.com`;
  await store.writer.query(insertSession, [accountId, email, hashToken(newToken())]);
  await store.writer.query(setPassword, [
    email,
    await hashNewPassword(password, { about: [email], parameter: 'password', beside: null }),
  ]);
  await store.writer.query(insertMany, [email]);
  expect(await Promise.all([1, 2, 3].map(() => signIn(email)))).toEqual([204, 204, 204]);
  const { rows } = await store.writer.query<{ user_agent: string }>(selectLiving, [email]);
  expect(rows).toHaveLength(MOST_SESSIONS);
  expect(rows[0]).toEqual({ user_agent: 'earlier 4' });
  expect(rows.filter(({ user_agent }) => user_agent === 'new')).toHaveLength(3);
  const { rows: ended } = await store.writer.query(selectEnded, [accountId]);
  expect(ended).toEqual([{ entries: 3, sessions: 3 }]);
});
