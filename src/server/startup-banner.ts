import { styleText } from 'node:util';
import type pg from 'pg';
import { called } from '../config/package-root.ts';
import { one } from '../database/one.ts';
import type { OpenStore } from '../database/open.ts';
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

/** What `serve` prints when it is ready. `url` is where the API listens, `consoleUrl` the console's address in a browser. */
export async function startupBanner(
  writer: pg.Pool,
  store: OpenStore,
  first: FirstStart | null,
  url: string,
  consoleUrl: string,
): Promise<string> {
  const bold = (text: string) => styleText('bold', text, { stream: process.stdout });
  const { rows: counts } = await writer.query(countThings);
  const { rows: things } = await writer.query(firstThings);
  const { accounts, connections } = one(counts, 'count accounts and connections');
  const { account_id, name, plan, connection_id, connection_name, score } = one(
    things,
    'read the first account',
  );
  const own = store.embedded ? ' (set DATABASE_URL for your own)' : '';
  const lines = [
    `  store        ${store.description}${own}`,
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
