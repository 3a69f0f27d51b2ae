import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openPool } from '../src/store/connect.ts';
import { openStore } from '../src/store/open.ts';
import { type CheckoutContestant, checkoutContestant, costLine } from './checkout-contestant.ts';
import { compare } from './rounds.ts';
import { removeDataDirs, stopServers } from './servers.ts';

// What scopes and allowed addresses of keys cost an answer of the API: `node bench/key-access-cost.ts [--base CHECKOUT]`. Keys with rules
// against keys without, and against a checkout that knows no rules. Alternating rounds. Processor time hardly depends on what else runs.

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    rounds: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '64' },
  },
});

const contestants: CheckoutContestant[] = [];
if (values.base !== undefined) contestants.push(await checkoutContestant('before', resolve(values.base)));
contestants.push(await checkoutContestant('keys without rules', null));
const restricted = await checkoutContestant('keys with two scopes and four networks', null);
contestants.push(restricted);
await restrict(restricted);

const standings = await compare(contestants, {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
});
for (const standing of standings) console.log(costLine(standing));
await stopServers();
removeDataDirs();

/** Gives all keys of the account two scopes and four networks, the last of which is that of the load. */
async function restrict({ dataDir, accountId }: CheckoutContestant): Promise<void> {
  const store = await openStore({ databaseUrl: null, dataDir }, () => {}, 'migrate');
  const writer = openPool(store.address, 'writer', { max: 1 });
  await writer.query(
    `update api_key
        set scopes = '{health,ops}', allowed_addresses = '{203.0.113.0/24,2001:db8::/32,198.51.100.7,127.0.0.0/8}'
      where account_id = $1`,
    [accountId],
  );
  await writer.end();
  await store.close();
}
