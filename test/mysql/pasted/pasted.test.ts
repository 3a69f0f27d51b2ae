import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mysqlChecks } from '../../../src/checks/mysql/mysql-checks.ts';
import { showDigest } from '../../../src/checks/mysql/query-engine.ts';
import { isPrintable } from '../../../src/platform/text/clean-text.ts';
import { expectOnPages } from '../../support/expect-on-pages.ts';
import { MysqlServer } from '../mysql-server.ts';
import { paste } from '../paste.ts';
import { tableCases } from '../table-cases.ts';
import { ON_MYSQL } from '../tested-server.ts';
import { cases, elsewhere } from './cases.ts';
import { faultsOf } from './judged.ts';

/** A remediation that begins with SQL is pasted; any other is a sentence for a person. */
const isSql = (remediation: string) => /^(SELECT|SHOW|SET|ALTER|DROP|START|STOP|XA) /.test(remediation);

let server: MysqlServer;
const printed: [check: string, remediation: string][] = [];
const changed = new Map<string, string>();
beforeAll(async () => {
  server = await MysqlServer.start();
});
afterAll(() => server?.stop());

test.each(cases.filter(({ on = true }) => on))(
  '$check $name: its remediation can be pasted',
  async ({ check, judged, provoke, sentence = false, fixed, setting, after }) => {
    await provoke?.(server);
    const [fault] = await faultsOf(server, check, judged);
    const remediation = fault?.remediation ?? '';
    expect(remediation).not.toBe('');
    printed.push([check, remediation]);
    expect(isPrintable(remediation)).toBe(true);
    expect(remediation.length).toBeLessThan(4_000);
    expect([remediation, isSql(remediation)]).toEqual([remediation, !sentence]);
    if (!sentence) paste(server, remediation);
    if (setting !== undefined) changed.set(setting, remediation);
    if (fixed) expect(await faultsOf(server, check, judged)).toEqual([]);
    await after?.(server);
  },
);

test('the look at a digest can be pasted: what the checks of queries print', async () => {
  await server.run("select 'a look' as looked");
  const [row] = await server.run(
    "select digest from performance_schema.events_statements_summary_by_digest where digest_text like '%`looked`%'",
  );
  const query = String(row?.['digest'] ?? row?.['DIGEST']);
  expect(paste(server, showDigest(query))).toContain('`looked`');
});

const shown = async (name: string) => {
  const [row] = await server.run(`show global variables like '${name}'`);
  return String(row?.['Value']);
};

test.runIf(ON_MYSQL)('MySQL keeps what was set', async () => {
  const rows = await server.run('select * from performance_schema.persisted_variables');
  const kept = new Map(rows.map((row) => [row['VARIABLE_NAME'], row['VARIABLE_VALUE']]));
  // SET PERSIST refuses this one, so its remediation names the option file.
  for (const name of changed.keys())
    expect([name, kept.has(name)]).toEqual([name, name !== 'innodb_doublewrite']);
});

test.runIf(!ON_MYSQL)(
  'MariaDB keeps what was set, with the lines of the notes in its option file',
  async () => {
    const lines = [...changed.values()].flatMap((remediation) => {
      const [, note = ''] = remediation.split(' -- and ');
      return [...note.matchAll(/(\w+) = '?([^' ]*?)'?(?=,? )/g)].map(([, name = '', value = '']) => [
        name,
        value,
      ]);
    });
    const values = new Map<string, string>();
    for (const name of changed.keys()) values.set(name, await shown(name));
    await server.restart(Object.fromEntries(lines));
    for (const [name, value] of values) {
      const undone = name === 'require_secure_transport';
      expect([name, await shown(name)]).toEqual([name, undone ? 'ON' : value]);
    }
  },
);

test('the page of each check shows what the check prints', () => expectOnPages(printed));

/** They print the look at a digest. */
const OF_QUERIES = mysqlChecks.filter(({ readsQueries }) => readsQueries).map(({ id }) => id);

test('every check has a case, or a file that pastes what it prints', () => {
  for (const [id, file] of Object.entries(elsewhere)) {
    const text = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
    expect([id, text.includes(id) || text.includes('groupMemberDown'), text.includes('paste')]).toEqual([
      id,
      true,
      true,
    ]);
  }
  const covered = [
    ...[...cases, ...tableCases].map(({ check }) => check),
    ...Object.keys(elsewhere),
    ...OF_QUERIES,
  ];
  expect(mysqlChecks.map(({ id }) => id).filter((id) => !covered.includes(id))).toEqual([]);
});
