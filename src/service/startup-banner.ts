import { styleText } from 'node:util';
import type pg from 'pg';
import { called } from '../platform/package-root.ts';
import { one } from '../store/one.ts';
import type { OpenStore } from '../store/open.ts';
import { fleetStatus } from '../vocabulary/score-bands.ts';
import type { FirstStart } from './first-start.ts';

const countThings = `
  select (select count(*) from account) as accounts,
         (select count(*) from connection where removed_at is null) as connections,
         (select min(account_id) from account) as account_id`;

const firstThings = `
  select a.account_id, a.name, a.plan, c.connection_id, c.name as connection_name, h.score
    from account a
    left join connection c on c.account_id = a.account_id and c.removed_at is null
    left join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
   order by a.account_id, c.connection_id
   limit 1`;

/** The first account of a store, and its first connection. */
interface FirstThings {
  account_id: number | null;
  name: string | null;
  plan: string | null;
  connection_id: number | null;
  connection_name: string | null;
  score: number | null;
}

const NOTHING: FirstThings = {
  account_id: null,
  name: null,
  plan: null,
  connection_id: null,
  connection_name: null,
  score: null,
};

/** What `serve` prints when it is ready. `url` is where the API listens, `consoleUrl` the console's address in a browser. */
export async function startupBanner(
  stores: readonly { writer: pg.Pool; cell: { store: OpenStore } }[],
  first: FirstStart | null,
  url: string,
  consoleUrl: string,
): Promise<string> {
  const bold = (text: string) => styleText('bold', text, { stream: process.stdout });
  const counts: { accounts: number; connections: number }[] = [];
  const things: FirstThings[] = [];
  for (const { writer } of stores) {
    counts.push(one((await writer.query(countThings)).rows, 'count accounts and connections'));
    things.push(...(await writer.query<FirstThings>(firstThings)).rows);
  }
  const sum = (of: 'accounts' | 'connections') => counts.reduce((all, count) => all + Number(count[of]), 0);
  const [accounts, connections] = [sum('accounts'), sum('connections')];
  const { account_id, name, plan, connection_id, connection_name, score } = things[0] ?? NOTHING;
  const descriptions = stores.map(({ cell }) => cell.store.description).join(', ');
  const isEmbedded = stores.some(({ cell }) => cell.store.embedded);
  const own = isEmbedded ? ' (set DATABASE_URL for your own)' : '';
  const lines = [
    `  store        ${descriptions}${own}`,
    accounts === 1 ? `  account      ${account_id} ${name} (${plan})` : `  accounts     ${accounts}`,
    accounts === 1 && connections === 1
      ? `  connection   ${connection_id} ${connection_name}: ${score === null ? 'never run' : `score ${score}, ${fleetStatus(score)}`}`
      : `  connections  ${connections}`,
    first
      ? `  API key      ${bold(first.key)} (shown once)`
      : `  API key      shown only at the first start; to create another: ${called} key create --account ${account_id} --name NAME`,
    first
      ? `  sign in      ${bold(`${consoleUrl}/link/${first.linkToken}`)} (once, within 24 h)`
      : `  console      ${consoleUrl}/ (sign-in link for an owner: ${called} member link --account ${account_id})`,
  ];
  const key = first?.key ?? '<API_KEY>';
  const curl = `  curl -H "Authorization: Bearer ${key}" ${url}/api/v1/health/fleet`;
  const kept = first
    ? `\n  If a journal or log keeps this output, create another key and revoke this one: ${called} key revoke ${first.keyId}\n`
    : '';
  return `dbvitals is ready on ${bold(url)}\n${lines.join('\n')}\n\n${curl}\n${kept}`;
}
