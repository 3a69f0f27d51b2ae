import type pg from 'pg';
import type { Check, ServerFacts, Thresholds } from '../../src/checks/check.ts';
import type { Row } from '../../src/checks/fault.ts';
import { type JudgementInput, judgementOf, keptRows } from '../../src/checks/judgement-of.ts';
import { rowsOf } from '../../src/checks/rows.ts';
import { expectHarmless } from '../support/expect-harmless.ts';
import { expectHosted } from '../support/expect-hosted.ts';
import { expectLevels } from '../support/expect-levels.ts';
import { expectMeasures } from '../support/expect-measures.ts';
import { type SeenJudgement, seen } from '../support/seen-judgement.ts';

/** The tables of tests are tiny: thresholds by which their faults count. */
const OF_TINY_TABLES: Readonly<Record<string, Thresholds>> = {
  PG_DUPLICATE_INDEX: { minimum_bytes: 0 },
  PG_FK_TYPE_MISMATCH: { minimum_rows: 0 },
  PG_FK_UNINDEXED: { minimum_rows: 0 },
  PG_MIXED_COLLATIONS: { minimum_rows: 0 },
  PG_NO_PRIMARY_KEY: { minimum_rows: 0 },
  PG_REDUNDANT_INDEX: { minimum_bytes: 0 },
  PG_TOO_MANY_INDEXES: { minimum_rows: 0 },
};

/** Runs a check as the monitor does: READ ONLY, with timeouts, and only pg_catalog in its search_path. Its measures must be right, and its texts be such as a hosted server allows. */
export async function measure(
  client: pg.Client,
  check: Check,
  facts: Pick<JudgementInput, 'thresholds' | 'before' | 'expectedStandbys' | 'queries'> = {},
): Promise<SeenJudgement> {
  const thresholds = { ...OF_TINY_TABLES[check.id], ...facts.thresholds };
  const { rows, server, answers } = await read(client, check, thresholds);
  const given = { ...server, now: new Date(), ...facts, thresholds };
  const judgement = seen(judgementOf(check, rows, given));
  expectMeasures(check, judgement);
  expectLevels(check, judgement, thresholds);
  expectHosted(check, 'postgres', (provider) => judgementOf(check, rows, { ...given, provider }));
  await expectHarmless(check, answers, async (changed) => {
    const again = changed.values();
    const others = await rowsOf(
      check,
      { engine: 'postgres', ...server },
      async () => again.next().value ?? [],
      thresholds,
    );
    return judgementOf(check, others, given);
  });
  return judgement;
}

/** The rows of a check as they come back from the store, after a run whose previous one was `before`. */
export async function sample(
  client: pg.Client,
  check: Check,
  { before }: Pick<JudgementInput, 'before'> = {},
): Promise<Row[]> {
  return JSON.parse(
    JSON.stringify(keptRows(check, (await read(client, check, OF_TINY_TABLES[check.id])).rows, before)),
  );
}

async function read(
  client: pg.Client,
  check: Check,
  thresholds?: Thresholds,
): Promise<{ rows: Row[]; server: Pick<ServerFacts, 'version' | 'database'>; answers: Row[][] }> {
  const { rows: facts } = await client.query(
    `select current_setting('server_version_num')::int as version, current_database() as database`,
  );
  await client.query('begin transaction read only');
  try {
    await client.query(`set local statement_timeout = '5s'`);
    await client.query(`set local lock_timeout = '100ms'`);
    await client.query('set local search_path = pg_catalog');
    const answers: Row[][] = [];
    const ask = async (statement: string) => {
      const { rows: answer } = await client.query(statement);
      answers.push(answer);
      return answer;
    };
    const rows = await rowsOf(check, { engine: 'postgres', version: facts[0].version }, ask, thresholds);
    return { rows, server: facts[0], answers };
  } finally {
    await client.query('rollback');
  }
}
