import { afterAll, expect, test } from 'vitest';
import { findWorkers } from '../../../test/support/process-tree.ts';
import { instructions, target } from '../run-fixture.ts';
import { endIdleChildren, measureInChild } from './measure-in-child.ts';

const NEVER = new AbortController().signal;

afterAll(endIdleChildren);

const children = () => findWorkers(process.pid, 'measure-worker');

/** Runs a check of nobody's server for an account, or for an unknown one. Returns the children that wait for another run. */
async function runFor(accountId?: number): Promise<number[]> {
  const job = { target, instructions: { ...instructions, tries: 1 } };
  const { outcomes } = await measureInChild(accountId === undefined ? job : { ...job, accountId }, NEVER);
  const found = outcomes.flatMap(({ findings }) => findings);
  expect(found).toContainEqual(expect.objectContaining({ check_id: 'CONN_UNREACHABLE', status: 'critical' }));
  return children();
}

test('a child measures again and again for one account, and never for more than 50', async () => {
  endIdleChildren(); // of another file
  await runFor(1); // compiles the code, and ends
  await expect.poll(children).toEqual([]);
  const [child] = await runFor(1);
  for (let run = 0; run < 60; run++) expect(await runFor(1)).toEqual([child]);
  for (let account = 2; account < 50; account++) expect(await runFor(account)).toEqual([child]);
  await runFor(50);
  await expect.poll(children).not.toContain(child);
  const next = await runFor(51);
  expect(next).not.toContain(child);
});

test('each job of an unknown account counts as one of another', async () => {
  endIdleChildren();
  await expect.poll(children).toEqual([]);
  const [child] = await runFor();
  for (let run = 1; run < 49; run++) expect(await runFor()).toContain(child);
  await runFor();
  await expect.poll(children).not.toContain(child);
});
