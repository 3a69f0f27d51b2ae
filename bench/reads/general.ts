import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Measured } from '../contestants.ts';
import { compare, type LoadSize, type Standing } from '../rounds.ts';
import { withStore } from '../seed.ts';
import { startRival } from '../servers.ts';
import { plainStatistics } from './plain-sql.ts';

/** A general server's result for a read. */
export interface GeneralStanding {
  title: string;
  standing: Standing;
}

const FIELDS =
  'rowId actionType pagePath occurredAt properties requestId apiKeyId apiKeyByAccountIdAndApiKeyId{name} status method errorCode query sourceIp userAgent';

/** Measures PostGraphile with a page of the log and the ticket statistics of the first account. Installs it if it is missing. */
export async function measureGeneral(measured: Measured, load: LoadSize): Promise<GeneralStanding[]> {
  install();
  const account = measured.accounts[0]?.id ?? 0;
  // GraphQL can't average, so the statistics are a function.
  await withStore(measured.dataDir, async (_writer, owner) => {
    await owner.query(`
      create schema bench;
      grant usage on schema bench to dbvitals_writer;
      create function bench.ticket_statistics(
        account bigint, out open_count bigint, out resolved_this_week bigint, out critical_open bigint,
        out warning_open bigint, out avg_resolution_hours float8
      ) language sql stable as $$ ${plainStatistics} $$`);
  });
  const server = await startRival(['reads/postgraphile-server.ts'], { dataDir: measured.dataDir });
  const results: GeneralStanding[] = [];
  for (const [title, query] of Object.entries({
    'log, page of 100': `{allActivities(condition:{accountId:"${account}"},orderBy:ROW_ID_DESC,first:100){nodes{${FIELDS}}}}`,
    'ticket statistics': `{benchTicketStatistics(account:"${account}"){openCount resolvedThisWeek criticalOpen warningOpen avgResolutionHours}}`,
  })) {
    const body = JSON.stringify({ query });
    const response = await fetch(`http://127.0.0.1:${server.port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const text = await response.text();
    if (text.includes('"errors"') || !/"rowId"|"openCount"/.test(text))
      throw new Error(`PostGraphile answered: ${text.slice(0, 500)}`);
    const message = `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const { postmaster } = measured;
    const [standing] = await compare(
      [{ name: `PostGraphile, ${title}`, server, postmaster, load: () => message }],
      { ...load, connections: load.readers },
    );
    if (standing) results.push({ title, standing });
  }
  await server.stop();
  return results;
}

function install(): void {
  const here = import.meta.dirname;
  if (existsSync(join(here, 'node_modules/.package-lock.json'))) return;
  const { status } = spawnSync('npm', ['ci', '--silent', '--ignore-scripts'], {
    cwd: here,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`PostGraphile could not be installed: run "npm ci" in ${here}.`);
}
