import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Check, FAULT_LIMIT } from '../../../src/checks/check.ts';
import type { Fault } from '../../../src/checks/fault.ts';
import type { JudgementInput } from '../../../src/checks/judgement-of.ts';
import { postgresChecks } from '../../../src/checks/postgres/postgres-checks.ts';
import { showQuery } from '../../../src/checks/postgres/query-engine.ts';
import { cleanObject } from '../../../src/monitor/outcome.ts';
import { escapedName, isPrintable, UNPRINTABLE } from '../../../src/platform/text/clean-text.ts';
import { waitFor } from '../../support/wait-for.ts';
import { measure, sample } from '../measure.ts';
import { follow, isSteps, paste } from '../paste.ts';
import { PostgresServer } from '../postgres-server.ts';
import { hostileKeys } from './hostile-keys.ts';
import { type HostileCase, hostileObjects } from './hostile-objects.ts';
import { hostileSessions } from './hostile-sessions.ts';
import { type Made, type NamedCase, type Naming, quoting, run } from './named-case.ts';
import { plainRemediations } from './plain-remediations.ts';
import { serverObjects } from './server-objects.ts';

let server: PostgresServer;
let version = 0;
beforeAll(async () => {
  server = await PostgresServer.start();
  const [row] = await server.run('show server_version_num');
  version = Number(row?.['server_version_num']);
});
afterAll(() => server.stop());

/** A name of 63 bytes, the longest, in characters of up to four bytes. */
function hostile(base: string): string {
  const name = `${base}"b'c\\d;e--f:g :h$&$$%s \n\t\r\u0001\u202e\u00a0\u200b é`;
  const left = 63 - Buffer.byteLength(name);
  return name + '𝕩'.repeat(left / 4) + 'x'.repeat(left % 4);
}

/** The name that it would be if a page or a terminal cleaned it. */
function alike(base: string): string {
  return hostile(base).replace(new RegExp(UNPRINTABLE, 'gu'), ' ');
}

/** A fault of objects in a schema. */
function inSchema({ make, load, ...each }: HostileCase): NamedCase {
  return {
    ...each,
    make: async (on, name) => {
      const q = quoting(name);
      await run(on, `create schema ${q('s')}`, `grant usage on schema ${q('s')} to watcher`, ...make(q));
      return {
        ...(load && { load: async () => void (await run(on, ...load(q))) }),
        end: async () => {
          await run(on, `drop schema if exists ${q('s')} cascade`, `drop publication if exists ${q('p')}`);
        },
      };
    },
  };
}

const cases: NamedCase[] = [
  ...[...hostileObjects, ...hostileKeys].map(inSchema),
  ...hostileSessions,
  ...serverObjects,
];

function checkOf({ check_id }: NamedCase): Check {
  const check = postgresChecks.find(({ id }) => id === check_id);
  if (!check) throw new Error(`There is no check ${check_id}.`);
  return check;
}

type Before = Pick<JudgementInput, 'before'>;

/** Makes the fault under these names. Gives what a run before it saw, if the check compares runs. */
async function make(each: NamedCase, name: Naming): Promise<{ made: Made; before: Before }> {
  const made = await each.make(server, name);
  await server.settle();
  const before: Before = {};
  if (checkOf(each).comparesRuns) {
    const client = await server.open('watcher');
    before.before = { rows: await sample(client, checkOf(each)), seconds: 300 };
    await client.end();
  }
  await made.load?.();
  await server.settle();
  return { made, before };
}

async function faultsOf(each: NamedCase, before: Before): Promise<Fault[]> {
  const { thresholds } = each;
  const client = await server.open('watcher');
  try {
    const { faults, skipped } = await measure(client, checkOf(each), {
      ...(thresholds && { thresholds }),
      ...before,
    });
    expect(skipped).toBeUndefined();
    expect(faults.length).toBeLessThan(FAULT_LIMIT);
    return faults;
  } finally {
    await client.end();
  }
}

const objectsOf = (faults: readonly Fault[]) => faults.map(({ object }) => object);

test.each(cases)('$check_id ($kind): what is pasted mends the object, and nothing like it', async (each) => {
  if (version < (each.from ?? 0)) return;
  const began: Made[] = [];
  try {
    const one = await make(each, hostile);
    began.push(one.made);
    const ours = await faultsOf(each, one.before);
    const other = await make(each, alike);
    began.push(other.made);
    const theirs = (await faultsOf(each, other.before)).filter(
      ({ object }) => !objectsOf(ours).includes(object),
    );
    if (each.silent) {
      expect([ours, theirs]).toEqual([[], []]);
      return;
    }
    const found = [...ours, ...theirs];
    expect(ours.length, JSON.stringify(found)).toBeGreaterThan(0);
    expect(theirs.length, JSON.stringify(found)).toBe(ours.length);
    expect(new Set(objectsOf(found).map(cleanObject)).size).toBe(found.length);
    for (const { remediation } of found) expect(remediation).toSatisfy(isPrintable);
    // Referenced tables come before those that reference them, which the steps say.
    for (const { remediation } of ours.toReversed()) {
      if (!each.stays) await (one.made.mend ?? ((text) => follow(server, text)))(remediation);
      else if (isSteps(remediation)) await paste(server, remediation);
    }
    await one.made.after?.();
    if (one.made.load) return;
    const standing = objectsOf(each.stays ? found : theirs).sort();
    // A session that is told to end takes a moment.
    await waitFor(
      async () => expect(objectsOf(await faultsOf(each, other.before)).sort()).toEqual(standing),
      { interval: 100 },
    );
  } finally {
    for (const { end } of began) await end();
  }
});

test('the text of a query is shown, whatever the schema of pg_stat_statements is called', async () => {
  const [row] = await server.run(
    `select queryid::text as query from "Extra stats".pg_stat_statements where query like 'create schema %' limit 1`,
  );
  await run(server, `alter schema "Extra stats" rename to ${quoting(hostile)('s')}`);
  const look = showQuery(String(row?.['query']), escapedName(hostile('s')), version);
  expect(look).toSatisfy(isPrintable);
  expect(await paste(server, look)).toContain('create schema ');
});

/** They print the look of the last test. */
const OF_QUERIES = postgresChecks.filter(({ readsQueries }) => readsQueries).map(({ id }) => id);

test('every check has a case, or a remediation that names no object', () => {
  const covered = [...new Set(cases.map(({ check_id }) => check_id)), ...OF_QUERIES];
  expect([...covered, ...Object.keys(plainRemediations)].sort()).toEqual(
    postgresChecks.map(({ id }) => id).sort(),
  );
});
