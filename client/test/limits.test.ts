import { expect, inject, test } from 'vitest';
import { makeAccount, makeKey } from '../../test/contract/account.ts';
import { createClient } from '../src/index.ts';

// A window lasts 60 s and can't be made shorter.
test('429: the walk, and the one that follows, wait as long as Retry-After says and go on', {
  timeout: 150_000,
}, async () => {
  const { id, key } = await makeAccount({ requestsPerMinute: 4 });
  const follower = await makeKey(id, 'follower');
  const answers: { status: number; retryAfter: number; at: number }[] = [];
  const dbvitals = createClient({
    baseUrl: inject('origin'),
    apiKey: key,
    async fetch(request) {
      const at = performance.now();
      const response = await fetch(request);
      answers.push({ status: response.status, retryAfter: Number(response.headers.get('retry-after')), at });
      return response;
    },
  });

  const ids: number[] = [];
  const following = (async () => {
    const other = createClient({ baseUrl: inject('origin'), apiKey: follower.key });
    for await (const entry of other.activity.follow({ afterId: 0, pollSeconds: 0.5 })) {
      ids.push(entry.id);
      if (entry.properties['status'] === 429 && entry.properties['api_key_name'] === 'follower') return;
    }
  })();
  for (let n = 0; n < 6; n += 1) await dbvitals.fleet();
  await following;

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 200, 200]);
  const { retryAfter, at } = answers[4] ?? { retryAfter: 0, at: 0 };
  const waited = ((answers[5]?.at ?? 0) - at) / 1_000;
  expect(retryAfter).toBeGreaterThan(30);
  expect(waited).toBeGreaterThan(retryAfter - 0.05);
  expect(waited).toBeLessThan(retryAfter + 5);
  expect(ids).toEqual(Array.from({ length: ids.length }, (_, at) => at + 1));
});

test('with retry: false a 429 is thrown at once, with its wait', async () => {
  const { key } = await makeAccount({ requestsPerMinute: 1 });
  const dbvitals = createClient({ baseUrl: inject('origin'), apiKey: key, retry: false });
  await dbvitals.fleet();
  const error = await dbvitals.fleet().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'rate_limited', status: 429, requestId: expect.any(String) });
  expect(error).toHaveProperty('retryAfter', expect.closeTo(60, -1));
});
