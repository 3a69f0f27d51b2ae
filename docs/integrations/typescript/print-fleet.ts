import { readFileSync } from 'node:fs';
import type { paths } from './dbvitals.d.ts';

const origin = process.env['DBVITALS_URL'] ?? 'https://dbvitals.example.com';
const key = readFileSync(process.env['DBVITALS_KEY_FILE'] ?? 'dbvitals.key', 'utf8').trim();

type Get<Path extends keyof paths> = paths[Path]['get'];
type Answer<Path extends keyof paths> = Get<Path>['responses'][200]['content']['application/json'];
type Query<Path extends keyof paths> = NonNullable<Get<Path>['parameters']['query']>;
type Failure = Get<keyof paths>['responses'][400]['content']['application/json'];

async function get<Path extends keyof paths>(path: Path, query?: Query<Path>): Promise<Answer<Path>> {
  const url = new URL(path, origin);
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, String(value));
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  if (!answer.ok) {
    const { error }: Failure = JSON.parse(await answer.text());
    throw new Error(`${error.code}: ${error.message}`);
  }
  return JSON.parse(await answer.text());
}

const { data, summary } = await get('/api/v1/health/fleet');
for (const { name, score, status } of data)
  console.log(`${name}: ${score?.toFixed(0) ?? 'no score'}, ${status}`);
console.log(`${summary.critical} of ${summary.total} critical`);

const tickets = await get('/api/v1/ops/tickets', { status: 'open', severity: 'critical', per_page: 5 });
for (const { connection_name, title } of tickets.data) console.log(`${connection_name}: ${title}`);
if (tickets.meta.has_more) console.log(`… and ${tickets.meta.total - tickets.data.length} more`);
