import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { command } from './command.ts';
import { temporaryFolder } from './running-service.ts';

// `check run --url … --own FILE`, as CI runs it: on a server that is there, with no store of dbvitals.

const folder = temporaryFolder();
afterAll(() => folder.remove());

interface Result {
  checks: { check_id: string; status: string; severity: string; metric_line: string; remediation: string }[];
}

/** Runs the server's checks, with an own check of this statement and these levels. */
async function run(sql: string, levels: string) {
  const file = join(folder.path, 'own.yaml');
  writeFileSync(
    file,
    `checks:
  - id: ORDERS_STUCK
    title: Orders wait for payment
    engine: postgresql
    sql: ${sql}
    unit: count
    operator: ">="
    ${levels}
    remediation: Restart the payment worker, see runbook 12.
    every: 5m
  - { id: OF_MYSQL, title: Other, engine: mysql, sql: select 1 as value, unit: count, operator: ">=", warning: 1 }
`,
  );
  const { DATABASE_URL = '' } = inject('sharedStore');
  const words = ['check', 'run', '--url', DATABASE_URL, '--own', file, '--json'];
  const environment = { DBVITALS_DATA_DIR: join(folder.path, 'none') };
  const { exit, stdout, stderr } = await command(words, { environment, ownProcess: true });
  expect(stderr).not.toContain('error:');
  const { checks } = JSON.parse(stdout) as Result;
  const others = checks.filter(({ check_id }) => !check_id.startsWith('OWN_'));
  // The server itself has nothing critical, or the exit code would be that of another check.
  expect(others.filter(({ status }) => status === 'critical')).toEqual([]);
  return { exit, own: checks.filter(({ check_id }) => check_id.startsWith('OWN_')) };
}

test('a critical value ends with 2, and the finding says what to do', async () => {
  const { exit, own } = await run('select 120 as value', 'critical: 100');
  expect(exit).toBe(2);
  expect(own).toMatchObject([
    {
      check_id: 'OWN_ORDERS_STUCK',
      status: 'critical',
      remediation: 'Restart the payment worker, see runbook 12.',
    },
  ]);
  expect(own[0]?.metric_line).toContain('120');
});

test('a warning ends with 1, and each object is a finding', async () => {
  const sql = `select * from (values ('mail', 12), ('print', 3), ('"; drop', 40)) as queue (object, value)`;
  const { exit, own } = await run(sql, 'warning: 10');
  expect(exit).toBe(1);
  expect(own.map(({ status }) => status)).toEqual(['warning', 'warning']);
});

test('a value below its levels is ok, and a statement that can not run is an error with its reason', async () => {
  const calm = await run('select 3 as value', 'warning: 10');
  expect(calm.own).toMatchObject([{ status: 'ok' }]);
  const broken = await run('select 1 as value from nothing', 'warning: 10');
  expect(broken.own).toMatchObject([
    { status: 'error', metric_line: expect.stringContaining('relation "nothing" does not exist') },
  ]);
});
