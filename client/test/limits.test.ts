import { expect, inject, test } from 'vitest';
import { makeAccount } from '../../test/contract/account.ts';
import { createClient } from '../src/index.ts';

test('with retry: false a 429 is thrown at once, with its wait', async () => {
  const { key } = await makeAccount({ requestsPerMinute: 1 });
  const dbvitals = createClient({ baseUrl: inject('origin'), apiKey: key, retry: false });
  await dbvitals.fleet();
  const error = await dbvitals.fleet().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'rate_limited', status: 429, requestId: expect.any(String) });
  expect(error).toHaveProperty('retryAfter', expect.closeTo(60, -1));
});
